// The words of a text, and seeded embeddings of them with a human-readable layout: every feature is an angle,
// stored as the pair (sin, cos), and the columns of an embedding are three groups of such pairs.
//
//   columns                     what                                    angle of pair p
//   [0, 2·word_pairs)           which word it is                        uniform in [0, 2π), from (seed, word, p)
//   [2·word_pairs, …)           its position: sinusoidal positions   position · 10000^(−p/position_pairs)
//   the last pair               the constant (0, 1), equal for all      0
//
// So the dot product of two words' codes is word_pairs for equal words and near 0 for others, and the dot
// product of two positions' codes depends only on their distance. At width 128: 32 word pairs in columns
// 0…63, 31 position pairs in columns 64…125, the constant in columns 126 and 127. An odd last column is 0;
// widths below 6 have no constant. Adding the positions and giving them their own columns yield the same sum,
// because the word's code is 0 in those columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Text → words and punctuation, as a learner would split it by hand. No vocabulary, no state: the same text
// gives the same tokens everywhere.

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

// Sinusoidal positions: "Attention Is All You Need", section 3.5.
//   PE(pos, 2i) = sin(pos / 10000^(2i/d)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
// Here d = 2·pairs, so that pair i rotates by 10000^(-i/pairs) radians from one position to the next.

// Radians per position of a sine-cosine pair, in (0,1]; 0 <= pair < pairs.
double sinusoid_frequency(Index pair, Index pairs);

// How sharply a head can distinguish positions. The codes of two positions, over some of the sinusoid pairs,
// have the dot product K(δ) = Σ_p cos(ω_p·δ): it depends only on their distance and is largest, the number of
// pairs, at δ = 0. A softmax over β·K finds distance 0 if β is large enough.

struct PositionKernel {
  std::vector<Index> pairs;         // which of the embedding's position pairs, fastest first
  std::vector<double> frequencies;  // ω of each, radians per position

  // The `count` pairs 0, stride, 2·stride … of `of` pairs.
  static PositionKernel strided(Index count, Index stride, Index of);

  double value(Index distance) const;                                // K(δ)
  double peak() const { return static_cast<double>(pairs.size()); }  // K(0)
  // The largest and the smallest K(δ) over 0 < |δ| < reach.
  double largest_beside(Index reach) const;
  double smallest(Index reach) const;
  // The smallest β for which distance 0 gets `share` of a softmax over all |δ| < reach; `most` if that is not
  // enough.
  double sharpness(Index reach, double share, double most) const;
};

struct EmbeddingLayout {
  Index width = 0;  // E, kdim or vdim
  Index word_pairs = 0;
  Index position_pairs = 0;
  Index constant_pairs = 0;  // 0 or 1
  Index position_column() const { return 2 * word_pairs; }
  Index constant_column() const { return 2 * (word_pairs + position_pairs) + 1; }  // the cosine, 1
};

EmbeddingLayout embedding_layout(Index width);

// (N,L,width): the same sentence in each batch entry. Without positions their columns are 0. `axes` are the
// names of the three axes.
Tensor text_embeddings(const std::vector<Token>& tokens, Index batch, const EmbeddingLayout& layout,
                       std::uint64_t seed, bool positions, DType dtype, const char* length_axis,
                       const char* width_axis);

}  // namespace headwise
