// Which words of a text a model has as a whole, which it reads in pieces, and which it does not know at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

enum class WordKnowledge {
  split,    // read in several pieces
  unknown,  // read as the token for unknown words
};

struct HardlyKnownWord {
  std::size_t begin = 0, end = 0;  // bytes of the text
  WordKnowledge knowledge = WordKnowledge::unknown;
  std::vector<std::string> pieces;  // as in the vocabulary: {"gr", "##yph", "##on"}, {"[UNK]"}; {""} for no_token
};

// The words that the model hardly knows, in the order of the text. A split word counts only where whole words are the rule
// (WordPiece): byte pairs split most words, which says nothing of them. Special tokens are no words. Throws as
// Tokenizer::encode.
std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer, std::string_view text);
// The same for a text that is encoded already.
std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer,
                                                std::span<const EncodedToken> tokens);

// "“gryphon” is split into 3 pieces, gr ##yph ##on: the model knows it only by these."
std::string knowledge_sentence(const HardlyKnownWord& word, std::string_view text);

}  // namespace headwise
