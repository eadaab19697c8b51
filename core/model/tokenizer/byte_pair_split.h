// How byte-level BPE splits a text into words before merging: the regular expressions of model families, matched by hand.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace headwise {

enum class SplitPattern {
  none,    // the whole text is one word
  gpt2,    // GPT-2, RoBERTa, GPT-NeoX, OPT
  llama3,  // Llama 3, GPT-4 (cl100k): up to 3 digits per word
  qwen2,   // Qwen2 and 2.5: as Llama 3, but one digit per word
  bloom,   // BLOOM: a space and a run of neither white space nor punctuation
  digits,  // each number is a word of its own, what is between them another (SmolLM, StarCoder; before gpt2)
};

// The pattern with this regular expression, compared character by character; nullopt if it is not known.
std::optional<SplitPattern> known_split_pattern(std::string_view regex);

// The end of the word that begins at `at`. No byte is skipped: words tile the text. at < text.size().
std::size_t split_word_end(SplitPattern pattern, std::string_view text, std::size_t at);

}  // namespace headwise
