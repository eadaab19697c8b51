// npz: a ZIP archive whose entries are .npy arrays, each named NAME.npy.
#pragma once

#include "core/files/array_files.h"
#include "core/files/zip_file.h"

namespace headwise {

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
