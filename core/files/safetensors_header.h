// The JSON header of a safetensors file, read key by key: nothing is built for what the format does not know.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/element_type.h"

namespace headwise {

struct SafetensorsArray {
  StoredArray array;
  std::uint64_t begin = 0, end = 0;  // in the data, which begins behind the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsArray> arrays;  // in the order of the header
  std::map<std::string, std::string> metadata;
};

// Throws Error(input), beginning with `where`: malformed JSON, a key that is unknown, missing or there twice,
// a wrong type. Offsets and shapes are as they stand; whether they agree is for the caller to check.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where);

}  // namespace headwise
