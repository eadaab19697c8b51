#include "tests/fuzz/array_file_check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/fuzz/fuzz_target.h"

namespace headwise::fuzz {
namespace {

// A file in memory, seen under a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "memfd_create failed");
    const auto written = write(descriptor_, bytes.data(), bytes.size());
    require(written == static_cast<ssize_t>(bytes.size()), "the file in memory could not be written");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

// Where what was read is written again: in memory where there is such a folder.
const std::string& scratch_path() {
  static const struct Folder {
    Folder() {
      const std::filesystem::path memory = "/dev/shm";
      std::string name =
          ((std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
           "headwise_fuzz_XXXXXX")
              .string();
      require(mkdtemp(name.data()) != nullptr, "no folder for temporary files");
      folder = name;
      file = name + "/array";
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
    std::string folder, file;
  } scratch;
  return scratch.file;
}

// The result, or none where the file was refused.
template <class F>
auto unless_refused(const std::string& path, F read) -> std::optional<decltype(read(path))> {
  try {
    return read(path);
  } catch (const Error& error) {
    require_refusal(error, path, ExitStatus::input);
    return std::nullopt;
  }
}

// The order may be another: safetensors puts wide types first. A .npy file holds no name.
void require_same(std::vector<NamedTensor> got, std::vector<NamedTensor> expected, bool named) {
  require(got.size() == expected.size(), fmt::format("{} arrays came back of {}", got.size(), expected.size()));
  std::ranges::sort(got, {}, &NamedTensor::name);
  std::ranges::sort(expected, {}, &NamedTensor::name);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Tensor &back = *got[i].tensor, &before = *expected[i].tensor;
    require(!named || got[i].name == expected[i].name, "another name came back for " + expected[i].name);
    require(back.shape().sizes() == before.shape().sizes(), "another shape came back");
    require(identical(back.reshaped(before.shape()), before), "other numbers came back");
  }
}

}  // namespace

void check_array_file(std::span<const std::uint8_t> bytes, std::size_t memory_per_byte,
                      const WriteArrays& write) {
  const MemoryFile file(bytes);
  const std::string& path = scratch_path();
  std::optional<ArrayFileInfo> info;
  std::optional<std::vector<NamedTensor>> arrays;
  {
    const MemoryLimit limit((std::size_t{4} << 20) + memory_per_byte * bytes.size());
    info = unless_refused(file.path(), read_array_file_info);
    arrays = unless_refused(file.path(), [](const std::string& of) { return read_array_file(of); });
  }
  ++(arrays ? outcomes().accepted : outcomes().refused);
  if (!arrays) return;
  require(info.has_value(), "the list of arrays is refused, the arrays are not");
  require(info->arrays.size() == arrays->size(), "the list has another number of arrays");
  for (std::size_t i = 0; i < arrays->size(); ++i) {
    require(info->arrays[i].sizes == (*arrays)[i].tensor->shape().sizes(), "the list has another shape");
    require(info->arrays[i].stored_dtype == (*arrays)[i].stored_dtype, "the list has another type");
  }
  write(path, *arrays);
  const bool one_array_without_name = info->format == "npy";
  require_same(read_array_file(path), *arrays, !one_array_without_name);
}

}  // namespace headwise::fuzz
