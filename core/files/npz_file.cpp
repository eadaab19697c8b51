#include "core/files/npz_file.h"

#include <algorithm>

#include "core/files/array_writers.h"
#include "core/files/npy_format.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr std::string_view suffix = ".npy";
constexpr std::uint64_t most_metadata_bytes = std::uint64_t{64} << 20;  // per entry

std::string array_name(const InputFile& file, const ZipEntry& entry) {
  const std::string_view name = entry.name;
  if (!name.ends_with(suffix) || name.size() == suffix.size()) {
    throw NotNumbers({file.path(), "an entry of the archive is not an array", entry.name,
                      "names that end in .npy", "save the arrays with numpy.savez"});
  }
  return std::string(name.substr(0, name.size() - suffix.size()));
}

bool is_metadata(const ZipEntry& entry) {
  const std::string_view name = entry.name;
  return name.ends_with(suffix) && is_reserved_name(name.substr(0, name.size() - suffix.size()));
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

// The text of a metadata entry; nullopt if it is something else, which is ignored.
std::optional<std::string> metadata_text(const InputFile& file, const ZipEntry& entry) {
  if (entry.size > most_metadata_bytes) return std::nullopt;
  try {
    OpenEntry open(file, entry);
    const StoredArray& array = open.header.array;
    if (array.type != ElementType::u8 || array.sizes.size() != 1) return std::nullopt;
    std::string text(static_cast<std::size_t>(array.sizes[0]), '\0');
    open.source()(std::as_writable_bytes(std::span(text)));
    open.reader.finish();
    return text;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<ZipEntry> array_entries(const InputFile& file, const std::vector<ZipEntry>& entries,
                                    std::vector<UnreadEntry>* unread) {
  std::vector<ZipEntry> arrays;
  std::optional<NotNumbers> first;
  for (const ZipEntry& entry : entries) {
    if (is_metadata(entry)) continue;
    try {
      const OpenEntry open(file, entry);
      require_readable(open.header.array, open.where);
      arrays.push_back(entry);
    } catch (const NotNumbers& refusal) {
      if (!unread) throw;
      const bool array = entry.name.ends_with(suffix);
      unread->push_back({array ? entry.name.substr(0, entry.name.size() - suffix.size()) : entry.name, refusal});
      if (!first) first = refusal;
    }
  }
  if (arrays.empty() && first) throw *first;
  return arrays;
}

ArrayFileInfo npz_info(const InputFile& file, const std::vector<ZipEntry>& entries) {
  ArrayFileInfo info{"npz", {}, {}, {}};
  for (const ZipEntry& entry : entries) {
    if (!is_metadata(entry)) continue;
    if (auto text = metadata_text(file, entry))
      info.metadata.emplace(entry.name.substr(0, entry.name.size() - suffix.size()), *std::move(text));
  }
  for (const ZipEntry& entry : array_entries(file, entries, &info.unread)) {
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

std::vector<NamedTensor> read_npz(const InputFile& file, const std::vector<ZipEntry>& all,
                                  std::vector<UnreadEntry>* unread) {
  const std::vector<ZipEntry> entries = array_entries(file, all, unread);
  // All headers first: the memory that the arrays need is known before any of them is allocated.
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

void write_npz(const ByteSink& sink, const std::vector<NamedTensor>& tensors, const FileMetadata& metadata) {
  ZipWriter writer(sink);
  for (const auto& [name, text] : metadata) {
    if (!is_reserved_name(name)) continue;
    const std::string header = npy_header_for_bytes(text.size());
    writer.add(name + std::string(suffix), std::as_bytes(std::span(header)), std::as_bytes(std::span(text)));
  }
  for (const NamedTensor& array : tensors) {
    const std::string header = npy_header_for(*array.tensor);
    writer.add(array.name + std::string(suffix), std::as_bytes(std::span(header)),
               tensor_storage(*array.tensor));
  }
  writer.finish();
}

}  // namespace headwise
