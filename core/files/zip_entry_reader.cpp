#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "core/files/zip_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;
constexpr std::size_t max_zlib_bytes = std::size_t{1} << 30;  // zlib counts in 32 bits

}  // namespace

struct ZipEntryReader::State {
  State(const InputFile& file_read, const ZipEntry& entry_read) : file(file_read), entry(entry_read) {}
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void fail(const std::string& what, const std::string& remedy = "") const {
    throw Error(ExitStatus::input,
                {file.path() + ": " + entry.name, what, "", "",
                 remedy.empty() ? "the file is damaged: download or save it again" : remedy});
  }

  // Unpacks into `into` until it is full or the stream ends; returns the number of bytes.
  std::size_t inflate_some(std::span<std::byte> into) {
    stream.next_out = reinterpret_cast<Bytef*>(into.data());
    stream.avail_out = static_cast<uInt>(into.size());
    while (stream.avail_out > 0 && !ended) {
      if (stream.avail_in == 0) {
        const std::uint64_t count = std::min<std::uint64_t>(input.size(), entry.compressed_size - consumed);
        if (count == 0) fail("the compressed data ends too early");
        file.read(entry.data_offset + consumed, std::as_writable_bytes(std::span(input).first(count)));
        consumed += count;
        stream.next_in = input.data();
        stream.avail_in = static_cast<uInt>(count);
      }
      const int result = inflate(&stream, Z_NO_FLUSH);
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result != Z_OK && result != Z_STREAM_END) fail("the compressed data is damaged");
      ended = result == Z_STREAM_END;
    }
    return into.size() - stream.avail_out;
  }

  const InputFile& file;
  const ZipEntry entry;
  std::uint64_t consumed = 0, produced = 0;
  uLong crc = crc32(0, nullptr, 0);
  z_stream stream{};
  bool ended = false;
  std::array<Bytef, chunk_bytes> input{};
};

ZipEntryReader::ZipEntryReader(const InputFile& file, const ZipEntry& entry)
    : state_(std::make_unique<State>(file, entry)) {
  constexpr int raw_deflate = -MAX_WBITS;
  if (entry.deflated && inflateInit2(&state_->stream, raw_deflate) != Z_OK) throw std::bad_alloc();
}

ZipEntryReader::~ZipEntryReader() = default;

void ZipEntryReader::read(std::span<std::byte> into) {
  State& state = *state_;
  if (into.size() > state.entry.size - state.produced) state.fail("the entry is shorter than its array");
  while (!into.empty()) {
    const std::span<std::byte> part = into.first(std::min(into.size(), max_zlib_bytes));
    if (state.entry.deflated) {
      if (state.inflate_some(part) != part.size()) state.fail("the entry is shorter than its directory says");
    } else {
      state.file.read(state.entry.data_offset + state.produced, part);
    }
    state.crc = crc32(state.crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    state.produced += part.size();
    into = into.subspan(part.size());
  }
}

void ZipEntryReader::finish() {
  State& state = *state_;
  if (state.produced != state.entry.size) state.fail("the entry is longer than its array");
  if (state.entry.deflated) {
    std::byte extra[1];
    if (state.inflate_some(extra) != 0 || state.stream.avail_in != 0 ||
        state.consumed != state.entry.compressed_size) {
      state.fail("the entry is longer than its directory says");
    }
  }
  if (static_cast<std::uint32_t>(state.crc) != state.entry.crc) state.fail("the checksum (CRC) is wrong");
}

}  // namespace headwise
