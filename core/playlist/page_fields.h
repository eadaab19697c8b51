// The values of a page's keys, read strictly. Private to core/playlist. Every function throws Error(usage), one sentence that
// begins with `where`, for a value of the wrong type or out of range.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/json_document.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

using Names = std::vector<std::string>;

// Refuses an object with a key that is not known, suggesting the nearest.
void check_keys(const Json& object, const std::string& where, const Names& known);

std::string text_of(const Json& value, const std::string& where);
// A whole number from 0 to 2^53.
Index index_of(const Json& value, const std::string& where);
// The index of a word in a list.
std::size_t choice_of(const Json& value, const std::string& where, const Names& words);
TensorName tensor_of(const Json& value, const std::string& where);
// { "tensor": NAME, "index": [i, …] }
CellRef cell_of(const Json& value, const std::string& where);

template <std::size_t Count>
Names names_of(const std::array<std::string_view, Count>& words) {
  return {words.begin(), words.end()};
}

}  // namespace headwise
