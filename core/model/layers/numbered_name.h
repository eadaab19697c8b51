// Names of arrays and layers with their numbers apart, so that "h.0.attn" and "h.1.attn" are seen to be of one row.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// Numbers are whole parts between dots, written as counts are: neither "conv1" nor "01".
struct NumberedName {
  std::vector<std::string> between;  // "h." and ".attn": one more than numbers
  std::vector<Index> numbers;        // 0
};

NumberedName numbered_name(const std::string& name);

// The name again, with number `axis` of it changed.
std::string with_number(const NumberedName& name, std::size_t axis, Index number);

}  // namespace headwise
