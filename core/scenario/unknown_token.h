// The label of a token that stands for a word missing from the model's vocabulary: the word,
// and what the model reads.
#pragma once

#include <string>
#include <string_view>

namespace headwise {

// No token of a text contains it, because no token contains a space inside.
inline constexpr std::string_view read_as = " → ";

// "gryphon → [UNK]"
inline std::string unknown_token_label(std::string_view word, std::string_view token) {
  return std::string(word).append(read_as).append(token);
}

// The word of such a label; empty for any other label.
inline std::string_view unknown_word(std::string_view label) {
  const std::size_t at = label.find(read_as);
  return at == std::string_view::npos ? std::string_view() : label.substr(0, at);
}

}  // namespace headwise
