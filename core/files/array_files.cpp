#include "core/files/array_files.h"

#include <algorithm>
#include <array>
#include <functional>

#include "core/files/array_writers.h"
#include "core/files/element_type.h"
#include "core/files/foreign_model.h"
#include "core/files/input_file.h"
#include "core/files/npy_format.h"
#include "core/files/npz_file.h"
#include "core/files/safetensors_file.h"
#include "core/files/zip_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

enum class Format { npy, zip, safetensors, pickle, foreign, unknown };

std::string extension_of(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  return dot == std::string::npos ? "" : name.substr(dot);
}

std::string beginning_of(const InputFile& file) {
  return file.read_text(0, std::min<std::uint64_t>(file.size(), 9));
}

// The content decides; the name only if the content is damaged,
// so that the error refers to the intended format.
Format format_of(const InputFile& file) {
  const std::string start = beginning_of(file);
  if (start.starts_with(npy_magic)) return Format::npy;
  if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6")) return Format::zip;
  // A header of up to 100,000,000 bytes leaves the upper four bytes of its length zero;
  // no pickle looks like that.
  if (start.size() == 9 && start[8] == '{' && start.substr(4, 4) == std::string(4, '\0'))
    return Format::safetensors;
  if (looks_like_pickle(start)) return Format::pickle;
  if (refused_foreign_model(file.path(), start)) return Format::foreign;
  const std::string extension = extension_of(file.path());
  if (extension == ".npy") return Format::npy;
  if (extension == ".npz") return Format::zip;
  if (extension == ".safetensors") return Format::safetensors;
  constexpr std::array pickles{".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"};
  return std::ranges::find(pickles, extension) != pickles.end() ? Format::pickle : Format::unknown;
}

// For a pickle: by its name, or, like PyTorch's files before 1.6, by a pickled magic number at its beginning.
bool saved_by_torch(const InputFile& file) {
  constexpr std::array endings{".pt", ".pth", ".bin", ".ckpt"};
  if (std::ranges::find(endings, extension_of(file.path())) != endings.end()) return true;
  constexpr std::string_view magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);
  return file.size() >= magic.size() && file.read_text(0, magic.size()) == magic;
}

bool holds_pickle(const std::vector<ZipEntry>& entries) {
  return std::ranges::any_of(entries, [](const ZipEntry& entry) {
    return entry.name == "data.pkl" || entry.name.ends_with("/data.pkl");
  });
}

std::string array_name(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.substr(0, name.size() - extension_of(name).size());
}

ArrayFileInfo npy_info(const InputFile& file) {
  const StoredArray array = read_npy_header(file).array;
  ArrayFileInfo info{"npy",
                     {{array_name(file.path()), std::string(element_type(array.type).name), array.sizes,
                       stored_bytes(array, file.path())}},
                     {},
                     {}};
  add_unreadable(array, info.arrays[0].name, file.path(), info.unread);
  return info;
}

std::vector<NamedTensor> read_npy(const InputFile& file) {
  const ArrayInfo array = npy_info(file).arrays[0];
  return {{array.name, read_npy_array(file), array.stored_dtype}};
}

// Opens the file, recognises it and calls the function of its format.
template <class Npy, class Npz, class Safetensors>
auto with_file(const std::string& path, Npy npy, Npz npz, Safetensors safetensors) {
  const InputFile file(path);
  switch (format_of(file)) {
    case Format::npy:
      return npy(file);
    case Format::safetensors:
      return safetensors(file);
    case Format::pickle:
      throw refused_pickle(path, saved_by_torch(file));
    case Format::zip: {
      const std::vector<ZipEntry> entries = read_zip_directory(file);
      if (holds_pickle(entries)) throw refused_pickle(path, true);
      return npz(file, entries);
    }
    case Format::foreign:
      throw *refused_foreign_model(path, beginning_of(file));
    case Format::unknown:
      break;
  }
  throw Error(ExitStatus::input,
              {path, "the format is not recognised", "", "a .npy, .npz or .safetensors file", ""});
}

}  // namespace

bool is_reserved_name(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

namespace {

// `unread` may be null: entries that cannot be read are then rejected.
std::vector<NamedTensor> read_arrays(const std::string& path, std::vector<UnreadEntry>* unread) {
  const auto npz = [&](const InputFile& file, const std::vector<ZipEntry>& entries) {
    return read_npz(file, entries, unread);
  };
  const auto safetensors = [&](const InputFile& file) { return read_safetensors(file, unread); };
  return with_file(path, read_npy, npz, safetensors);
}

}  // namespace

std::vector<NamedTensor> read_array_file(const std::string& path) {
  return read_arrays(path, nullptr);
}

std::vector<NamedTensor> read_array_file(const std::string& path, std::vector<UnreadEntry>& unread) {
  return read_arrays(path, &unread);
}

ArrayFileInfo read_array_file_info(const std::string& path) {
  return with_file(path, npy_info, npz_info, safetensors_info);
}

Tensor outline_of(const ArrayInfo& array, const std::string& where) {
  const std::optional<DType> dtype = tensor_dtype(array.stored_dtype);
  StoredArray stored{.name = array.name, .other_type = array.stored_dtype, .sizes = array.sizes};
  if (!dtype) stored.type = ElementType::other;
  require_readable(stored, where);
  return Tensor::outline(unnamed_shape(array.sizes), dtype.value_or(DType::f32));
}

void write_npy(const ByteSink& sink, const Tensor& tensor) {
  const std::string header = npy_header_for(tensor);
  sink(std::as_bytes(std::span(header)));
  sink(tensor_storage(tensor));
}

void write_npy(const std::string& path, const Tensor& tensor) {
  write_file_atomically(path, [&](const ByteSink& sink) { write_npy(sink, tensor); });
}

void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors) {
  write_file_atomically(path, [&](const ByteSink& sink) { write_npz(sink, tensors, {}); });
}

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const FileMetadata& metadata) {
  write_file_atomically(path, [&](const ByteSink& sink) { write_safetensors(sink, tensors, metadata); });
}

}  // namespace headwise
