// The words of a model's vocabulary that begin as typed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

// Letters that have to be typed before a word is completed.
inline constexpr std::size_t least_typed_letters = 2;

// The beginning of a word that a cursor stands behind: the letters in front of byte `at`, if no letter follows. nullopt if
// there are fewer than least_typed_letters. at ≤ text.size(), and a start of a character.
std::optional<std::size_t> typed_word_begin(std::string_view text, std::size_t at);

// At most `most` whole words that are longer than what was typed and begin with it, in the capitals as typed: the shortest
// first, among equals in the order of the vocabulary, which is that of frequency in most. Empty for a tokenizer without
// whole words (byte pairs).
std::vector<std::string> completions(const Tokenizer& tokenizer, std::string_view typed, std::size_t most);

}  // namespace headwise
