// Text → words and punctuation, as a learner would split it by hand. No vocabulary, no state: the same text
// gives the same tokens everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct Token {
  std::string text;    // the original bytes; a byte that is not UTF-8 is a token of its own
  std::string lookup;  // identical for equal words: NFC, case folded
};

// Rules, in this order:
//   - white space, controls and invisible format characters separate tokens and are dropped;
//   - a grapheme cluster (UAX #29: a letter with its combining marks, an emoji sequence) is never cut;
//   - Han, Hiragana and Katakana: one character per token;
//   - letters, digits and _ join into words; inside a word ' ’ and - stay between letters, . and , between
//     digits;
//   - English contractions are split as in the Penn Treebank: did|n't, it|'s, we|'ll;
//   - everything else (punctuation, symbols, emoji): one cluster per token.
Index token_count(std::string_view text);  // allocates no memory
// The beginning of the text up to and including its first `count` tokens; allocates no memory.
std::string_view first_tokens(std::string_view text, Index count);
// Throws Error(memory) if the tokens of such a long text would not fit.
std::vector<Token> tokenise(std::string_view text);

}  // namespace headwise
