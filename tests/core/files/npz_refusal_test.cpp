#include <zlib.h>

#include <functional>
#include <vector>

#include "core/files/zip_file.h"
#include "tests/checks.h"
#include "tests/core/files/refusal.h"

using namespace headwise;

namespace {

std::string bytes_of(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
  return bytes;
}

// An entry of a ZIP archive, with every field that a hostile archive may lie about.
struct Entry {
  std::string name = "a.npy";
  std::string data;  // as it stands in the archive
  std::uint64_t flags = 0, method = 0, crc = 0, compressed_size = 0, size = 0;
  std::string extra = {};       // in the directory
  std::string local_name = {};  // empty: as `name`
  std::uint64_t local_signature = 0x04034b50;
  std::int64_t offset = -1;  // -1: where it stands
};

struct EndRecord {
  std::uint64_t disk = 0, entries_here = 0, entries = 0, directory_size = 0, directory_offset = 0;
  std::string comment;
};

std::string zip(const std::vector<Entry>& entries, const std::function<void(EndRecord&)>& change = {}) {
  std::string file, directory;
  for (const Entry& entry : entries) {
    const std::uint64_t offset = entry.offset < 0 ? file.size() : static_cast<std::uint64_t>(entry.offset);
    const std::string& local_name = entry.local_name.empty() ? entry.name : entry.local_name;
    const std::string common = bytes_of(20, 2) + bytes_of(entry.flags, 2) + bytes_of(entry.method, 2) +
                               bytes_of(0, 4) + bytes_of(entry.crc, 4) + bytes_of(entry.compressed_size, 4) +
                               bytes_of(entry.size, 4);
    file += bytes_of(entry.local_signature, 4) + common + bytes_of(local_name.size(), 2) + bytes_of(0, 2) +
            local_name + entry.data;
    directory += bytes_of(0x02014b50, 4) + bytes_of(20, 2) + common + bytes_of(entry.name.size(), 2) +
                 bytes_of(entry.extra.size(), 2) + std::string(10, '\0') + bytes_of(offset, 4) + entry.name +
                 entry.extra;
  }
  EndRecord end{0, entries.size(), entries.size(), directory.size(), file.size(), ""};
  if (change) change(end);
  return file + directory + bytes_of(0x06054b50, 4) + bytes_of(end.disk, 4) + bytes_of(end.entries_here, 2) +
         bytes_of(end.entries, 2) + bytes_of(end.directory_size, 4) + bytes_of(end.directory_offset, 4) +
         bytes_of(end.comment.size(), 2) + end.comment;
}

std::uint64_t crc_of(const std::string& data) {
  return crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
}

const std::string array = content_of(corpus("le_f4.npy"));

Entry stored(const std::string& name = "a.npy") {
  return {
      .name = name, .data = array, .crc = crc_of(array), .compressed_size = array.size(), .size = array.size()};
}

std::string raw_deflate(const std::string& data) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Entry deflated(const std::string& content = array) {
  const std::string data = raw_deflate(content);
  return {
      .data = data, .method = 8, .crc = crc_of(content), .compressed_size = data.size(), .size = content.size()};
}

// An entry, changed.
Entry with(Entry entry, const std::function<void(Entry&)>& change) {
  change(entry);
  return entry;
}

}  // namespace

TEST_CASE("the archives that the refusals vary are themselves read, a comment behind them too") {
  const TemporaryFolder folder;
  for (const std::string& content :
       {zip({stored()}), zip({deflated()}), zip({stored(), stored("b.npy")}),
        zip({stored()}, [](EndRecord& end) { end.comment = "PK\5\6"; }), zip({with(stored(), [](Entry& e) {
          // only one of the fields is all ones
          e.extra = bytes_of(1, 2) + bytes_of(8, 2) + bytes_of(e.size, 8);
          e.size = 0xFFFFFFFF;
        })})})
    CHECK(read_array_file(folder.with_file("a.npz", content)).at(0).tensor->size() == 6);
}

TEST_CASE("a damaged directory is refused") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& content) {
    return refusal_of(folder.with_file("a.npz", content));
  };
  const std::function<void(EndRecord&)> changes[] = {
      [](EndRecord& end) { end.disk = 1; },
      [](EndRecord& end) { end.entries = 2; },
      [](EndRecord& end) { end.entries = end.entries_here = 2; },
      [](EndRecord& end) { end.entries = end.entries_here = 0; },
      [](EndRecord& end) { end.entries = end.entries_here = 0xFFFF; },
      [](EndRecord& end) { ++end.directory_size; },
      [](EndRecord& end) { --end.directory_size; },
      [](EndRecord& end) { ++end.directory_offset; },
      [](EndRecord& end) { --end.directory_offset, ++end.directory_size; },
      [](EndRecord& end) { ++end.directory_offset, --end.directory_size; },
      [](EndRecord& end) { end.directory_offset = 0xFFFFFFFF; },
      [](EndRecord& end) { end.directory_size = 0xFFFFFFFF; },
  };
  for (const auto& change : changes) refuse(zip({stored()}, change));
  CHECK_CONTAINS(refuse(zip({stored()}) + "more"), "no end record");
  refuse("X" + zip({stored()}));
  refuse(std::string("PK\3\4", 4) + std::string(70'000, '\0'));
}

TEST_CASE("an entry that lies about itself is refused") {
  const TemporaryFolder folder;
  const std::function<void(Entry&)> changes[] = {
      [](Entry& e) { e.flags = 1; },
      [](Entry& e) { e.method = 12; },
      [](Entry& e) { e.crc ^= 1; },
      [](Entry& e) { ++e.size; },
      [](Entry& e) { --e.size; },
      [](Entry& e) { ++e.compressed_size; },
      [](Entry& e) { e.size = e.compressed_size = 1; },
      [](Entry& e) { e.size = e.compressed_size = 0; },
      [](Entry& e) { e.size = e.compressed_size = e.size + 1; },
      [](Entry& e) { e.size = e.compressed_size = 0xFFFFFFFE; },
      [](Entry& e) { e.size = 0xFFFFFFFF; },
      [](Entry& e) { e.size = 0xFFFFFFFF, e.extra = bytes_of(1, 2) + bytes_of(4, 2) + bytes_of(1, 4); },
      [](Entry& e) { e.size = 0xFFFFFFFF, e.extra = bytes_of(1, 2) + bytes_of(8, 2) + bytes_of(~0ull, 8); },
      [](Entry& e) {
        e.size = e.compressed_size = 0xFFFFFFFF;
        e.extra = bytes_of(1, 2) + bytes_of(16, 2) + bytes_of(~0ull, 8) + bytes_of(~0ull, 8);
      },
      [](Entry& e) { e.extra = bytes_of(1, 2) + bytes_of(100, 2); },
      [](Entry& e) { e.offset = 1; },
      [](Entry& e) { e.offset = 0xFFFFFFFE; },
      [](Entry& e) { e.local_signature = 0; },
      [](Entry& e) { e.local_name = "b.npy"; },
      [](Entry& e) { e.local_name = "longer.npy"; },
      [](Entry& e) { e.name = "a.txt"; },
      [](Entry& e) { e.name = ".npy"; },
      [](Entry& e) { e.name = "folder/"; },
      [](Entry& e) { e.method = 8; },
  };
  for (const auto& change : changes) refusal_of(folder.with_file("a.npz", zip({with(stored(), change)})));
  const std::function<void(Entry&)> deflate_changes[] = {
      [](Entry& e) { e.crc ^= 1; },
      [](Entry& e) { ++e.size; },
      [](Entry& e) { --e.size; },
      [](Entry& e) { --e.compressed_size; },
      [](Entry& e) { ++e.compressed_size, e.data += 'x'; },
      [](Entry& e) { e.method = 0; },
      [](Entry& e) { e.data[0] = '\xff'; },
      [](Entry& e) { e.data.replace(5, 10, 10, '\0'); },
      [](Entry& e) { e.size = 100'000'000; },
  };
  for (const auto& change : deflate_changes)
    refusal_of(folder.with_file("a.npz", zip({with(deflated(), change)})));
}

TEST_CASE("entries of one name and entries that overlap are refused") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npz", zip({stored(), stored()}))), "twice");
  // Two entries, one piece of data: how a small archive is made to unpack to a large one.
  const std::string overlap = zip({stored(), with(stored(), [](Entry& e) { e.offset = 0; })});
  refusal_of(folder.with_file("a.npz", overlap));
  const std::string inside =
      zip({with(stored(), [](Entry& e) { e.data += std::string(100, 'x'), e.size = e.compressed_size = 400; }),
           stored("b.npy")});
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npz", inside)), "overlap");
}

TEST_CASE("an array in an archive is checked like one in a file of its own") {
  const TemporaryFolder folder;
  for (const char* name : {"object.npy", "record.npy", "text.npy", "complex.npy"})
    refusal_of(folder.with_file("a.npz", zip({deflated(content_of(corpus(name)))})));
  refusal_of(folder.with_file("a.npz", zip({deflated(array + "x")})));
  refusal_of(folder.with_file("a.npz", zip({deflated(array.substr(0, array.size() - 1))})));
  refusal_of(folder.with_file("a.npz", zip({deflated("")})));
  refusal_of(folder.with_file("a.npz", zip({deflated("no array at all")})));
}

TEST_CASE("a bomb is refused before it is unpacked") {
  const TemporaryFolder folder;
  // More than deflate can ever reach.
  Entry claim = deflated();
  claim.size = std::uint64_t{1} << 30;
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npz", zip({claim}))), "claims");
  // What it can reach, but no archive of numbers does: 576 MiB from half a MiB.
  const std::string zeros = raw_deflate(std::string(std::size_t{64} << 20, '\0'));
  Entry large{.data = zeros, .method = 8, .compressed_size = zeros.size(), .size = std::uint64_t{64} << 20};
  std::vector<Entry> many;
  for (int i = 0; i < 9; ++i) {
    large.name = std::string(1, static_cast<char>('a' + i)) + ".npy";
    many.push_back(large);
  }
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npz", zip(many))), "far more");
}

TEST_CASE("a zip64 record that lies is refused, an honest one is read") {
  const TemporaryFolder folder;
  const std::string plain = zip({stored()});
  const std::size_t end = plain.size() - 22;
  const std::uint64_t offset = array.size() + 35, size = end - offset;
  const auto with64 = [&](std::uint64_t record_at, std::uint64_t entries, std::uint64_t directory_size,
                          std::uint64_t directory_offset, std::uint64_t length = 44) {
    const std::string record = bytes_of(0x06064b50, 4) + bytes_of(length, 8) + bytes_of(45, 2) +
                               bytes_of(45, 2) + bytes_of(0, 8) + bytes_of(entries, 8) + bytes_of(entries, 8) +
                               bytes_of(directory_size, 8) + bytes_of(directory_offset, 8);
    const std::string locator =
        bytes_of(0x07064b50, 4) + bytes_of(0, 4) + bytes_of(record_at, 8) + bytes_of(1, 4);
    return folder.with_file("a.npz", plain.substr(0, end) + record + locator + plain.substr(end));
  };
  CHECK(read_array_file(with64(end, 1, size, offset)).size() == 1);
  refusal_of(with64(end + 1, 1, size, offset));
  refusal_of(with64(~0ull, 1, size, offset));
  refusal_of(with64(~0ull - 55, 1, size, offset));
  refusal_of(with64(end, 2, size, offset));
  refusal_of(with64(end, ~0ull, size, offset));
  refusal_of(with64(end, 1, ~0ull, offset));
  refusal_of(with64(end, 1, size, ~0ull));
  refusal_of(with64(end, 1, ~0ull - offset, offset));
  refusal_of(with64(end, 1, size, offset, 45));
  refusal_of(with64(end, 1, size, offset, ~0ull));
}

TEST_CASE("an npz file cut off anywhere is refused, and no changed byte does harm") {
  const TemporaryFolder folder;
  check_truncations_and_flips(folder, "a.npz", content_of(corpus("stored.npz")));
  check_truncations_and_flips(folder, "a.npz", zip({deflated()}));
}
