// Text → words and punctuation, as a learner would cut it by hand. No vocabulary, no state: the same text
// gives the same tokens everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct Token {
  std::string text;  // the bytes as they stand in the source; a byte that is not UTF-8 is a token of its own
  std::string lookup;  // what equal words have in common: NFC, upper and lower case folded
};

// Rules, in this order:
//   - white space, controls and invisible format characters separate and are dropped;
//   - a grapheme cluster (UAX #29: a letter with its combining marks, an emoji sequence) is never cut;
//   - Han, Hiragana and Katakana: one character a token;
//   - letters, digits and _ join into words; inside a word ' ’ and - stay between letters, . and , between
//   digits;
//   - English contractions part as in the Penn Treebank: did|n't, it|'s, we|'ll;
//   - everything else (punctuation, symbols, emoji): one cluster a token.
Index token_count(std::string_view text);  // takes no memory
// The beginning of the text that holds its first `count` tokens, without what follows them; takes no memory.
std::string_view first_tokens(std::string_view text, Index count);
// Throws Error(memory) where the tokens of so long a text would not fit.
std::vector<Token> tokenise(std::string_view text);

}  // namespace headwise
