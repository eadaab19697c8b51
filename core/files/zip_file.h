// ZIP archives as numpy writes them: entries that are stored or deflated, with zip64 if sizes need it. Based
// on PKWARE's APPNOTE.TXT 6.3. Only the central directory determines the contents of an archive; local
// headers only say where the data begins.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/files/atomic_file.h"
#include "core/files/input_file.h"

namespace headwise {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t data_offset = 0;
};

// Throws Error(input): a missing or damaged directory, encryption, another compression, entries that overlap,
// exceed the file or have duplicate names, and archives that unpack to more than they can hold or are allowed
// to (a ZIP bomb: above 1032 times, which deflate cannot reach; above 512 MiB and 200 times).
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

// Unpacks an entry from its beginning. The file must outlive the reader.
class ZipEntryReader {
 public:
  ZipEntryReader(const InputFile& file, const ZipEntry& entry);
  ~ZipEntryReader();
  ZipEntryReader(const ZipEntryReader&) = delete;
  ZipEntryReader& operator=(const ZipEntryReader&) = delete;

  void read(std::span<std::byte> into);  // throws Error(input) if the entry holds less
  void finish();                         // throws Error(input) if it holds more, or the CRC differs

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes an archive to a sink. Times are fixed, so equal content gives equal bytes.
class ZipWriter {
 public:
  explicit ZipWriter(const ByteSink& sink) : sink_(sink) {}

  // An entry made of two consecutive parts. Deflated until the archive has taken 64 MiB, then stored: numbers
  // compress little and slowly, and no archive of ours looks like a bomb to the reader.
  void add(const std::string& name, std::span<const std::byte> first, std::span<const std::byte> second);
  void finish();  // writes the directory

 private:
  void put(const std::string& bytes);

  const ByteSink& sink_;
  std::string directory_;
  std::uint64_t offset_ = 0, entries_ = 0, deflated_bytes_ = 0;
};

}  // namespace headwise
