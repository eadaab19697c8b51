// The header of a .npy array, as described in numpy.lib.format: a magic string, a version, a length and a
// Python dict.
#pragma once

#include <string>

#include "core/files/array_files.h"
#include "core/files/element_type.h"
#include "core/files/zip_file.h"

namespace headwise {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

struct NpyHeader {
  StoredArray array;
  std::uint64_t header_bytes = 0;  // magic, length and dict: where the data begins
};

// Reads the header of an array of `total_bytes` (header and data) from its beginning; versions 1, 2 and 3.
// The dict is parsed as data, never run. Throws Error(input), beginning with `where`: not npy, a header above
// 10,000 bytes or without exactly the three keys, and data of a size other than the shape needs; NotNumbers
// for an array of objects, text, dates or records.
NpyHeader read_npy_header(const ByteSource& source, std::uint64_t total_bytes, const std::string& where);

// The same of a file that is one array, and the array itself.
NpyHeader read_npy_header(const InputFile& file);
TensorPtr read_npy_array(const InputFile& file);

// Magic, length and dict for a tensor that is written row-major and little-endian; its length is a multiple
// of 64 bytes.
std::string npy_header_for(const Tensor& tensor);
// The same for an array of this many bytes (1-D uint8).
std::string npy_header_for_bytes(std::size_t count);

// npz: a ZIP archive whose entries are .npy arrays, each named NAME.npy.

// The entries that are arrays of numbers, without metadata (is_reserved_name); the others are added to
// `unread`. Throws Error(input) for a damaged entry, and NotNumbers if `unread` is null or none of the
// entries is an array of numbers.
std::vector<ZipEntry> array_entries(const InputFile& file, const std::vector<ZipEntry>& entries,
                                    std::vector<UnreadEntry>* unread);

// `entries` is the archive's directory. Throw Error(input). The info includes metadata that is 1-D uint8, and
// skips other reserved names.
ArrayFileInfo npz_info(const InputFile& file, const std::vector<ZipEntry>& entries);
TensorPtr read_npz_array(const InputFile& file, const ZipEntry& entry);
std::vector<NamedTensor> read_npz(const InputFile& file, const std::vector<ZipEntry>& entries,
                                  std::vector<UnreadEntry>* unread);

}  // namespace headwise
