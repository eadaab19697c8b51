// safetensors: the length of a JSON header, the header, then the data of all arrays without holes or
// overlaps. Based on the format section of the safetensors README and its reference reader's checks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/element_type.h"
#include "core/files/input_file.h"

namespace headwise {

// The JSON header of a safetensors file, read key by key: nothing is built for keys unknown to the format.

struct SafetensorsArray {
  StoredArray array;
  std::uint64_t begin = 0, end = 0;  // in the data, which begins after the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsArray> arrays;  // in the order of the header
  std::map<std::string, std::string> metadata;
};

// Throws Error(input), beginning with `where`: malformed JSON, an unknown, missing or duplicate key, a wrong
// kind of value. A type that is not known becomes ElementType::other, a null __metadata__ none. Offsets and
// shapes are returned as found; the caller must check whether they agree.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where);

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
