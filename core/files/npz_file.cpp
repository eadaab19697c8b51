#include "core/files/npz_file.h"

#include "core/files/npy_format.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr std::string_view suffix = ".npy";

std::string array_name(const InputFile& file, const ZipEntry& entry) {
  const std::string_view name = entry.name;
  if (!name.ends_with(suffix) || name.size() == suffix.size()) {
    throw Error(ExitStatus::input, {file.path(), "an entry of the archive is no array", entry.name,
                                    "names that end in .npy", "save the arrays with numpy.savez"});
  }
  return std::string(name.substr(0, name.size() - suffix.size()));
}

// An entry whose header has been read and whose data is next.
struct OpenEntry {
  OpenEntry(const InputFile& file, const ZipEntry& entry)
      : name(array_name(file, entry)), where(file.path() + ": " + name), reader(file, entry) {
    header = read_npy_header(source(), entry.size, where);
  }
  ByteSource source() {
    return [this](std::span<std::byte> into) { reader.read(into); };
  }

  std::string name, where;
  ZipEntryReader reader;
  NpyHeader header;
};

}  // namespace

ArrayFileInfo npz_info(const InputFile& file, const std::vector<ZipEntry>& entries) {
  ArrayFileInfo info{"npz", {}, {}};
  for (const ZipEntry& entry : entries) {
    const OpenEntry open(file, entry);
    const StoredArray& array = open.header.array;
    info.arrays.push_back({open.name, std::string(element_type(array.type).name), array.sizes,
                           stored_bytes(array, open.where)});
  }
  return info;
}

TensorPtr read_npz_array(const InputFile& file, const ZipEntry& entry) {
  OpenEntry open(file, entry);
  require_memory(tensor_bytes(open.header.array, open.where), open.where);
  TensorPtr tensor = read_tensor(open.header.array, open.source(), open.where);
  open.reader.finish();
  return tensor;
}

std::vector<NamedTensor> read_npz(const InputFile& file, const std::vector<ZipEntry>& entries) {
  // All headers first: what the arrays need is known before the first of them takes memory.
  Index total = 0;
  for (const ZipEntry& entry : entries) {
    const OpenEntry open(file, entry);
    if (__builtin_add_overflow(total, tensor_bytes(open.header.array, open.where), &total)) {
      throw Error(ExitStatus::input, {file.path(), "the arrays together are out of range", "", "", ""});
    }
  }
  require_memory(total, file.path());
  std::vector<NamedTensor> tensors;
  for (const ZipEntry& entry : entries) {
    OpenEntry open(file, entry);
    TensorPtr tensor = read_tensor(open.header.array, open.source(), open.where);
    open.reader.finish();
    tensors.push_back({open.name, std::move(tensor), std::string(element_type(open.header.array.type).name)});
  }
  return tensors;
}

void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors) {
  write_file_atomically(path, [&](const ByteSink& sink) {
    ZipWriter writer(sink);
    for (const NamedTensor& array : tensors) {
      const std::string header = npy_header_for(*array.tensor);
      writer.add(array.name + std::string(suffix), std::as_bytes(std::span(header)),
                 tensor_storage(*array.tensor));
    }
    writer.finish();
  });
}

}  // namespace headwise
