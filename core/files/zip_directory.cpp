#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/files/zip_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::uint64_t end_record_bytes = 22, locator_bytes = 20, end_record64_bytes = 56, entry_bytes = 46,
                        local_header_bytes = 30, max_comment_bytes = 65535;
constexpr std::uint64_t max_directory_bytes = 100'000'000;  // about a million arrays
// deflate cannot compress by more than a factor of 1032; a whole archive far above the second pair does not
// contain arrays of numbers.
constexpr std::uint64_t max_ratio = 1032, unsuspicious_ratio = 200,
                        unsuspicious_bytes = std::uint64_t{512} << 20;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Where the central directory is, and how many entries it has.
struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

class DirectoryReader {
 public:
  explicit DirectoryReader(const InputFile& file) : file_(file) {}

  std::vector<ZipEntry> read() {
    const Directory directory = find_directory();
    if (directory.size > max_directory_bytes)
      fail("its directory is too large", fmt::format("{} bytes", directory.size));
    const std::string bytes = file_.read_text(directory.offset, directory.size);
    std::vector<ZipEntry> entries;
    for (std::size_t at = 0; at < bytes.size();) {
      if (bytes.size() - at < entry_bytes || number(bytes, at, 4) != 0x02014b50)
        fail("its directory is damaged");
      const std::size_t length =
          entry_bytes + number(bytes, at + 28, 2) + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
      if (bytes.size() - at < length) fail("its directory is cut off");
      entries.push_back(entry(std::string_view(bytes).substr(at, length), directory.offset));
      at += length;
    }
    if (entries.size() != directory.entries) {
      fail("its directory disagrees with its end record", fmt::format("{} entries", entries.size()),
           fmt::format("{}", directory.entries));
    }
    check_together(entries);
    return entries;
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& got = "",
                         const std::string& expected = "", const std::string& remedy = "") const {
    throw Error(ExitStatus::input,
                {file_.path(), "the ZIP archive is not readable: " + what, got, expected, remedy});
  }

  // The end record is the last thing in the file, followed by a comment of up to 65535 bytes.
  Directory find_directory() const {
    const std::uint64_t tail = std::min(file_.size(), end_record_bytes + max_comment_bytes);
    const std::string bytes = file_.read_text(file_.size() - tail, tail);
    for (std::uint64_t back = end_record_bytes; back <= tail; ++back) {
      const std::size_t at = tail - back;
      if (number(bytes, at, 4) != 0x06054b50 || number(bytes, at + 20, 2) != back - end_record_bytes)
        continue;
      const std::uint64_t position = file_.size() - back;
      if (const std::optional<Directory> large = find_directory64(position)) return *large;
      const Directory directory{number(bytes, at + 16, 4), number(bytes, at + 12, 4),
                                number(bytes, at + 10, 2)};
      if (number(bytes, at + 4, 4) != 0 || number(bytes, at + 8, 2) != directory.entries)
        fail("it has several parts");
      if (directory.offset + directory.size != position) fail("its directory is not before its end record");
      return directory;
    }
    fail("it has no end record", "", "", "the file may be incomplete: download or save it again");
  }

  std::optional<Directory> find_directory64(std::uint64_t end_record) const {
    if (end_record < locator_bytes) return std::nullopt;
    const std::string locator = file_.read_text(end_record - locator_bytes, locator_bytes);
    if (number(locator, 0, 4) != 0x07064b50) return std::nullopt;
    const std::uint64_t position = number(locator, 8, 8);
    const std::uint64_t limit = end_record - locator_bytes;
    if (limit < end_record64_bytes || position > limit - end_record64_bytes)
      fail("its zip64 record lies outside the file");
    const std::string bytes = file_.read_text(position, end_record64_bytes);
    if (number(bytes, 0, 4) != 0x06064b50 || number(bytes, 4, 8) != limit - position - 12)
      fail("its zip64 record is damaged");
    const Directory directory{number(bytes, 48, 8), number(bytes, 40, 8), number(bytes, 32, 8)};
    if (number(bytes, 16, 8) != 0 || number(bytes, 24, 8) != directory.entries) fail("it has several parts");
    if (directory.size > position || directory.offset != position - directory.size) {
      fail("its directory is not before its zip64 record");
    }
    return directory;
  }

  ZipEntry entry(std::string_view bytes, std::uint64_t directory_offset) const {
    const std::size_t name_length = number(bytes, 28, 2);
    ZipEntry entry;
    entry.name = bytes.substr(entry_bytes, name_length);
    const std::uint64_t flags = number(bytes, 8, 2), method = number(bytes, 10, 2);
    entry.crc = static_cast<std::uint32_t>(number(bytes, 16, 4));
    entry.compressed_size = number(bytes, 20, 4);
    entry.size = number(bytes, 24, 4);
    std::uint64_t local_header = number(bytes, 42, 4);
    if ((flags & 1) != 0) fail("an entry is encrypted", entry.name);
    if (method != 0 && method != 8) {
      fail("an entry uses an unsupported compression", fmt::format("method {} in {}", method, entry.name),
           "stored or deflated", "save it again with numpy.savez or numpy.savez_compressed");
    }
    entry.deflated = method == 8;
    std::uint64_t* fields[] = {&entry.size, &entry.compressed_size, &local_header};
    read_zip64(bytes.substr(entry_bytes + name_length, number(bytes, 30, 2)), fields);
    if (!entry.deflated && entry.size != entry.compressed_size) fail("an entry has two sizes", entry.name);
    entry.data_offset = data_offset(entry, local_header, directory_offset);
    return entry;
  }

  // Fields that are all ones are stored, in this order, in the extra block 0x0001.
  void read_zip64(std::string_view extra, std::span<std::uint64_t*> fields) const {
    std::string_view block;
    while (extra.size() >= 4) {
      const std::size_t length = number(extra, 2, 2);
      if (extra.size() - 4 < length) fail("an extra field is damaged");
      if (number(extra, 0, 2) == 1) block = extra.substr(4, length);
      extra.remove_prefix(4 + length);
    }
    for (std::uint64_t* field : fields) {
      if (*field != 0xFFFFFFFF) continue;
      if (block.size() < 8) fail("a zip64 field is missing");
      *field = number(block, 0, 8);
      block.remove_prefix(8);
    }
  }

  std::uint64_t data_offset(const ZipEntry& entry, std::uint64_t local_header,
                            std::uint64_t directory_offset) const {
    const auto inside = [&](std::uint64_t offset, std::uint64_t count) {
      if (offset > directory_offset || count > directory_offset - offset)
        fail("an entry extends past the end of the file", entry.name);
    };
    inside(local_header, local_header_bytes);
    const std::string bytes = file_.read_text(local_header, local_header_bytes);
    const std::uint64_t name_length = number(bytes, 26, 2);
    const std::uint64_t data = local_header + local_header_bytes + name_length + number(bytes, 28, 2);
    inside(data, entry.compressed_size);
    if (number(bytes, 0, 4) != 0x04034b50 || name_length != entry.name.size() ||
        file_.read_text(local_header + local_header_bytes, name_length) != entry.name) {
      fail("an entry has no header", entry.name);
    }
    return data;
  }

  void check_together(const std::vector<ZipEntry>& entries) const {
    std::set<std::string_view> names;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::uint64_t total = 0;
    for (const ZipEntry& entry : entries) {
      if (!names.insert(entry.name).second) fail("a name occurs twice", entry.name);
      // The header, at least as long as it must be, belongs to its entry: nothing else may overlap it.
      ranges.emplace_back(entry.data_offset - entry.name.size() - local_header_bytes,
                          entry.data_offset + entry.compressed_size);
      if (entry.size / max_ratio > entry.compressed_size || __builtin_add_overflow(total, entry.size, &total)) {
        fail("an entry claims more than its packed bytes can hold",
             fmt::format("{} bytes in {}", entry.size, entry.name),
             fmt::format("at most {} for {} packed bytes", entry.compressed_size * max_ratio,
                         entry.compressed_size));
      }
    }
    std::ranges::sort(ranges);
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first < ranges[i - 1].second) fail("two entries overlap");
    }
    if (total > unsuspicious_bytes && total / unsuspicious_ratio > file_.size()) {
      fail("it unpacks to far more than its own size", fmt::format("{} bytes from {}", total, file_.size()),
           fmt::format("at most {} times", unsuspicious_ratio), "save it uncompressed: numpy.savez");
    }
  }

  const InputFile& file_;
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  return DirectoryReader(file).read();
}

}  // namespace headwise
