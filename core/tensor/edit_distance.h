// How far apart two names are, for "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// Insertions, deletions and substitutions of single bytes that turn a into b (Levenshtein). Takes O(a·b)
// time: truncate long text first.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name with the smallest edit distance to the first 64 bytes of `text`; empty if there are no names.
std::string nearest_name(std::string_view text, const std::vector<std::string>& names);

// "Did you mean", for names that do not exist.

// "did you mean \"NAME\"?"; empty without a name. did_you_mean takes the name that is nearest to `text`.
std::string suggestion(std::string_view name);
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace headwise
