// npz: a ZIP archive whose entries are .npy arrays, each named NAME.npy.
#pragma once

#include "core/files/array_files.h"
#include "core/files/zip_file.h"

namespace headwise {

// `entries` is the archive's directory. Throw Error(input).
ArrayFileInfo npz_info(const InputFile& file, const std::vector<ZipEntry>& entries);
TensorPtr read_npz_array(const InputFile& file, const ZipEntry& entry);
std::vector<NamedTensor> read_npz(const InputFile& file, const std::vector<ZipEntry>& entries);

}  // namespace headwise
