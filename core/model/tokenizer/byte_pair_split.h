// How byte-level BPE cuts a text into words before it merges: the regular expressions of model families, matched by hand.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace headwise {

enum class SplitPattern {
  none,    // the whole text is one word
  gpt2,    // GPT-2, RoBERTa, GPT-NeoX, OPT
  llama3,  // Llama 3, GPT-4 (cl100k): up to 3 digits a word
  qwen2,   // Qwen2 and 2.5: as Llama 3, but a digit a word
  bloom,   // BLOOM: a space and what is neither white space nor punctuation
  digits,  // each number a word of its own, what is between them another (SmolLM, StarCoder; before gpt2)
};

// The pattern that this regular expression is, character by character; nothing for one that is not known.
std::optional<SplitPattern> known_split_pattern(std::string_view regex);

// Where the word that begins at `at` ends. No byte is left out: words tile the text. at < text.size().
std::size_t split_word_end(SplitPattern pattern, std::string_view text, std::size_t at);

}  // namespace headwise
