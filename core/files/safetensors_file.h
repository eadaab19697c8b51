// safetensors: the length of a JSON header, the header, then the data of all arrays without holes or
// overlaps. Based on the format section of the safetensors README and its reference reader's checks.
#pragma once

#include "core/files/array_files.h"
#include "core/files/input_file.h"
#include "core/files/safetensors_header.h"

namespace headwise {

struct OpenSafetensors {
  SafetensorsHeader header;
  std::uint64_t data_begin = 0;  // in the file
};

// Throw Error(input) for everything that the format does not allow: a header above 100,000,000 bytes or
// beyond the file, malformed JSON or a duplicate key, a shape that disagrees with its bytes (of a known
// type), data with holes or overlaps or that does not end where the file does.
OpenSafetensors open_safetensors(const InputFile& file);
ArrayFileInfo safetensors_info(const InputFile& file);
// Arrays of a type that cannot be read are added to `unread`. Throws NotNumbers if that is null or there are
// no others.
std::vector<NamedTensor> read_safetensors(const InputFile& file, std::vector<UnreadEntry>* unread);

}  // namespace headwise
