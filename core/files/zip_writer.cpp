#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "core/files/zip_file.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr std::uint64_t max_deflated_bytes = std::uint64_t{64} << 20;
// Numbers repeat bytes (zeros, signs, exponents), not phrases. Searching only for runs takes a quarter of the
// time of the default strategy and loses nothing on traces of random inputs (measured: 0.93 of the size; 0.46
// with a causal mask).
constexpr int deflate_level = 6, deflate_strategy = Z_RLE;
constexpr std::uint64_t zip64_from = 0xFFFFFFFF, zip64_entries_from = 0xFFFF;
constexpr std::uint64_t date_1980_01_01 = 0x0021, utf8_names = 0x0800;

using Bytes = std::span<const std::byte>;

std::string little_endian(std::uint64_t value, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xFF);
    value >>= 8;
  }
  return bytes;
}

// Calls f(pointer, length) for pieces that zlib's 32-bit lengths can count.
template <class F>
void in_pieces(Bytes bytes, F f) {
  constexpr std::size_t piece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), piece);
    f(reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(count));
    bytes = bytes.subspan(count);
  }
}

std::string deflated(Bytes first, Bytes second) {
  z_stream stream{};
  constexpr int raw_deflate = -MAX_WBITS, memory_level = 8;
  if (deflateInit2(&stream, deflate_level, Z_DEFLATED, raw_deflate, memory_level, deflate_strategy) != Z_OK) {
    throw std::bad_alloc();
  }
  const auto end = [](z_stream* s) { deflateEnd(s); };
  const std::unique_ptr<z_stream, decltype(end)> guard(&stream, end);
  const uLong bound = deflateBound(&stream, static_cast<uLong>(first.size() + second.size()));
  require_memory(static_cast<Index>(bound), "the packed array");
  std::string out(bound, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const auto feed = [&](Bytes bytes, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    deflate(&stream, flush);
  };
  feed(first, Z_NO_FLUSH);
  feed(second, Z_FINISH);
  out.resize(stream.total_out);
  return out;
}

}  // namespace

void ZipWriter::put(const std::string& bytes) {
  sink_(std::as_bytes(std::span(bytes)));
  offset_ += bytes.size();
}

void ZipWriter::add(const std::string& name, Bytes first, Bytes second) {
  const std::uint64_t size = first.size() + second.size();
  uLong crc = crc32(0, nullptr, 0);
  for (const Bytes part : {first, second}) {
    in_pieces(part, [&](const Bytef* bytes, uInt count) { crc = crc32(crc, bytes, count); });
  }
  const bool deflate = size <= max_deflated_bytes - deflated_bytes_;
  const std::string packed = deflate ? deflated(first, second) : std::string();
  if (deflate) deflated_bytes_ += size;
  const std::uint64_t packed_size = deflate ? packed.size() : size;

  const bool large = size >= zip64_from, far = offset_ >= zip64_from;
  const bool ascii = std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const std::string sizes64 = little_endian(size, 8) + little_endian(packed_size, 8);
  const auto extra_of = [](const std::string& content) {
    return content.empty() ? content : little_endian(1, 2) + little_endian(content.size(), 2) + content;
  };
  const std::string local_extra = extra_of(large ? sizes64 : "");
  const std::string directory_extra = extra_of((large ? sizes64 : "") + (far ? little_endian(offset_, 8) : ""));
  const std::string common = little_endian(large || far ? 45 : 20, 2) +
                             little_endian(ascii ? 0 : utf8_names, 2) + little_endian(deflate ? 8 : 0, 2) +
                             little_endian(0, 2) + little_endian(date_1980_01_01, 2) + little_endian(crc, 4) +
                             little_endian(large ? zip64_from : packed_size, 4) +
                             little_endian(large ? zip64_from : size, 4) + little_endian(name.size(), 2);
  directory_ += little_endian(0x02014b50, 4) + little_endian(large || far ? 45 : 20, 2) + common +
                little_endian(directory_extra.size(), 2) + std::string(10, '\0') +
                little_endian(far ? zip64_from : offset_, 4) + name + directory_extra;
  ++entries_;
  put(little_endian(0x04034b50, 4) + common + little_endian(local_extra.size(), 2) + name + local_extra);
  if (deflate) return put(packed);
  sink_(first);
  sink_(second);
  offset_ += size;
}

void ZipWriter::finish() {
  const std::uint64_t begin = offset_, size = directory_.size();
  put(directory_);
  if (begin >= zip64_from || size >= zip64_from || entries_ >= zip64_entries_from) {
    const std::uint64_t record = offset_;
    put(little_endian(0x06064b50, 4) + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
        std::string(8, '\0') + little_endian(entries_, 8) + little_endian(entries_, 8) +
        little_endian(size, 8) + little_endian(begin, 8));
    put(little_endian(0x07064b50, 4) + std::string(4, '\0') + little_endian(record, 8) + little_endian(1, 4));
  }
  const std::uint64_t entries16 = std::min(entries_, zip64_entries_from);
  put(little_endian(0x06054b50, 4) + std::string(4, '\0') + little_endian(entries16, 2) +
      little_endian(entries16, 2) + little_endian(std::min(size, zip64_from), 4) +
      little_endian(std::min(begin, zip64_from), 4) + std::string(2, '\0'));
}

}  // namespace headwise
