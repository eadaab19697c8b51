// Names of arrays and layers with their numbers separated,
// so that "h.0.attn" and "h.1.attn" are recognised as one row.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// Numbers are whole components between dots, in plain decimal: neither "conv1" nor "01".
struct NumberedName {
  std::vector<std::string> between;  // "h." and ".attn": one more than numbers
  std::vector<Index> numbers;        // 0
};

NumberedName numbered_name(const std::string& name);

// The same name with number `axis` replaced.
std::string with_number(const NumberedName& name, std::size_t axis, Index number);

}  // namespace headwise
