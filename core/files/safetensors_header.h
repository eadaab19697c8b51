// The JSON header of a safetensors file, read key by key: nothing is built for keys unknown to the format.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/element_type.h"

namespace headwise {

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

}  // namespace headwise
