#include "core/files/npy_format.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <optional>

#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr std::uint32_t max_npy_header_bytes =
    10'000;  // as in numpy: a Python dict of three keys needs far less
constexpr std::size_t data_alignment = 64;

// Why an array of this dtype cannot be read.
const char* kind_text(std::string_view dtype) {
  const auto is_one_of = [&](std::string_view letters) {
    return !dtype.empty() && letters.find(dtype.front()) != std::string_view::npos;
  };
  if (is_one_of("UST")) return "text cannot be read";
  return is_one_of("Mm") ? "dates and times cannot be read" : "numbers of this type cannot be read";
}

// Reads the one Python literal that occurs here: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class DictParser {
 public:
  DictParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  StoredArray parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_type_) {
        type();
      } else if (key == "fortran_order" && !has_order_) {
        array_.fortran_order = boolean();
        has_order_ = true;
      } else if (key == "shape" && !has_shape_) {
        shape();
      } else {
        wrong(fmt::format("the key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) wrong("text behind the dict");
    if (!has_type_ || !has_order_ || !has_shape_) wrong(fmt::format("{}", text_));
    return array_;
  }

 private:
  [[noreturn]] void wrong(const std::string& got) const {
    refuse_input(where_, "the npy header is damaged", got,
                 "a dict of 'descr', 'fortran_order' and 'shape', each once");
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) wrong(fmt::format("'{}' at byte {}", text_.substr(at_, 20), at_));
  }

  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) wrong(fmt::format("'{}' at byte {}", text_.substr(at_, 20), at_));
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find('\\') != std::string_view::npos) wrong("a backslash in a string");
    at_ = end + 1;
    return std::string(content);
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    wrong(fmt::format("'{}' at byte {}", text_.substr(at_, 20), at_));
  }

  void type() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[')
      throw NotNumbers({where_, "arrays of records cannot be read",
                        std::string(text_.substr(at_, text_.find("],", at_) + 1 - at_)),
                        "an array of numbers", "save each field as a separate array"});
    const std::string descr = string();
    std::string_view kind = descr;
    const char order = kind.empty() ? '\0' : kind.front();
    if (order == '<' || order == '>' || order == '|' || order == '=') kind.remove_prefix(1);
    if (kind.starts_with('O'))
      throw NotNumbers({where_, "an array of Python objects can run code and is not read",
                        "dtype '" + descr + "'", "an array of numbers",
                        "convert it in Python: numpy.save(FILE, numpy.array(ARRAY.tolist(), 'float32'))"});
    const std::optional<ElementType> found = find_element_type(&ElementTypeEntry::npy, kind);
    if (!found)
      throw NotNumbers(
          {where_, kind_text(kind), "dtype '" + descr + "'", "f2, f4, f8, b1, i1 to i8 or u1 to u8", ""});
    array_.type = *found;
    array_.big_endian = order == '>';
    has_type_ = true;
  }

  void shape() {
    expect('(');
    while (!accept(')')) {
      skip_space();
      Index size = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc() || *begin == '-')
        refuse_input(
            where_, "a size in the npy header is wrong",
            std::string(text_.substr(at_, std::min<std::size_t>(24, text_.find_first_of(",)", at_) - at_))),
            "a whole number from 0 to 9223372036854775807");
      at_ += static_cast<std::size_t>(end - begin);
      accept('L');  // numpy under Python 2 wrote long integers this way
      array_.sizes.push_back(size);
      if (!accept(',')) {
        if (array_.sizes.size() == 1) wrong("a shape that is not a tuple");  // (3) is a number in Python
        expect(')');
        break;
      }
    }
    has_shape_ = true;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  StoredArray array_;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

std::string header_for(ElementType type, const std::vector<Index>& sizes) {
  const ElementTypeEntry& entry = element_type(type);
  std::string shape;
  for (const Index size : sizes) shape += fmt::format("{}{}", shape.empty() ? "" : " ", size) + ",";
  if (sizes.size() > 1) shape.pop_back();  // (3,) but (3, 4)
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 entry.bytes == 1 ? '|' : '<', entry.npy, shape);
  constexpr std::size_t prefix = 10;
  dict.append(data_alignment - 1 - (prefix + dict.size()) % data_alignment, ' ');
  dict += '\n';
  const auto length = static_cast<std::uint16_t>(dict.size());
  std::string header(npy_magic);
  header += {'\1', '\0', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  return header + dict;
}

constexpr std::string_view suffix = ".npy";
constexpr std::uint64_t most_metadata_bytes = std::uint64_t{64} << 20;  // per entry

std::string zipped_array_name(const InputFile& file, const ZipEntry& entry) {
  const std::string_view name = entry.name;
  if (!name.ends_with(suffix) || name.size() == suffix.size())
    throw NotNumbers({file.path(), "an entry of the archive is not an array", entry.name,
                      "names that end in .npy", "save the arrays with numpy.savez"});
  return std::string(name.substr(0, name.size() - suffix.size()));
}

bool is_metadata(const ZipEntry& entry) {
  const std::string_view name = entry.name;
  return name.ends_with(suffix) && is_reserved_name(name.substr(0, name.size() - suffix.size()));
}

// An entry whose header has been read and whose data is next.
struct OpenEntry {
  OpenEntry(const InputFile& file, const ZipEntry& entry)
      : name(zipped_array_name(file, entry)), where(file.path() + ": " + name), reader(file, entry) {
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

NpyHeader read_npy_header(const ByteSource& source, std::uint64_t total_bytes, const std::string& where) {
  constexpr std::size_t magic_bytes = 6, version_bytes = 2;
  unsigned char start[magic_bytes + version_bytes] = {};
  if (total_bytes < sizeof start + 2)
    refuse_input(where, "this is not an npy array", fmt::format("{} bytes", total_bytes), "a header");
  source(std::as_writable_bytes(std::span(start)));
  if (std::string_view(reinterpret_cast<const char*>(start), magic_bytes) != npy_magic)
    refuse_input(where, "this is not an npy array", "a different start", "the magic string \\x93NUMPY");
  const unsigned major = start[magic_bytes], minor = start[magic_bytes + 1];
  if (major < 1 || major > 3 || minor != 0)
    refuse_input(where, "this npy version is not known", fmt::format("{}.{}", major, minor),
                 "1.0, 2.0 or 3.0");
  unsigned char length_bytes[4] = {};
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::uint64_t text_begin = sizeof start + length_size;
  if (total_bytes < text_begin)
    refuse_input(where, "the npy header is cut off", fmt::format("{} bytes", total_bytes), "a header");
  source(std::as_writable_bytes(std::span(length_bytes).first(length_size)));
  std::uint32_t length = 0;
  for (std::size_t i = length_size; i-- > 0;) length = length << 8 | length_bytes[i];
  if (length > max_npy_header_bytes)
    refuse_input(where, "the length of the npy header is wrong", fmt::format("{} bytes", length),
                 fmt::format("at most {}", max_npy_header_bytes));
  if (length > total_bytes - text_begin)
    refuse_input(where, "the npy header is cut off", fmt::format("{} bytes of it", total_bytes - text_begin),
                 fmt::format("{}", length), "the file may be incomplete: download or save it again");
  std::string text(length, '\0');
  source(std::as_writable_bytes(std::span(text)));

  const NpyHeader header{DictParser(text, where).parse(), text_begin + length};
  const auto needed = static_cast<std::uint64_t>(stored_bytes(header.array, where));
  if (needed != total_bytes - header.header_bytes)
    refuse_input(where, "the data does not fill the shape",
                 fmt::format("{} bytes of data", total_bytes - header.header_bytes),
                 fmt::format("{} for {} of shape ({})", needed, element_type(header.array.type).name,
                             join(header.array.sizes, ",")),
                 "the file may be incomplete: download or save it again");
  return header;
}

NpyHeader read_npy_header(const InputFile& file) {
  return read_npy_header(file.source(0), file.size(), file.path());
}

TensorPtr read_npy_array(const InputFile& file) {
  const NpyHeader header = read_npy_header(file);
  return read_tensor(header.array, file.source(header.header_bytes), file.path());
}

std::string npy_header_for(const Tensor& tensor) {
  return header_for(element_type_of(tensor.dtype()), tensor.shape().sizes());
}

std::string npy_header_for_bytes(std::size_t count) {
  return header_for(ElementType::u8, {static_cast<Index>(count)});
}

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
    if (__builtin_add_overflow(total, tensor_bytes(open.header.array, open.where), &total))
      throw Error(ExitStatus::input, {file.path(), "the arrays together are out of range", "", "", ""});
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
