// How far apart two names are, for "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// Insertions, deletions and exchanges of single bytes that turn a into b (Levenshtein). Time a·b: cut long
// text first.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name with the least edit distance to the first 64 bytes of `text`; empty where there are no names.
std::string nearest_name(std::string_view text, const std::vector<std::string>& names);

}  // namespace headwise
