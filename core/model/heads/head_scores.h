// What a head looks at, measured on one attention map:
// scores that show which of some hundred heads are worth a look.
//
// A map is (L,S) with S = L: token i attends to token j with weight p[i,j], row i to the keys that it sees:
// all, those up to itself if the attention is causal, of these the last w if it has a sliding window of w.
// Every score is a mean over queries. A query counts if it belongs to the text (not [CLS], [SEP], <s> and the
// like, which a tokenizer puts around it), sees two keys or more (with one, its weight of 1 says nothing),
// its row is finite and not all zero, and the target of the score is among the keys that it sees. The score
// of such a query is the weight on the target, summed if there are several:
//
//   previous token   j = i − 1                                                 Voita et al. 2019, Clark et
//                                                                              al. 2019
//   next token       j = i + 1; never where the attention is causal             Clark et al. 2019
//   itself           j = i: the diagonal, the token's own place                 Kovaleva et al. 2019
//   same word        every other j whose token has the same id, not itself      duplicate-token heads,
//                    Wang et al. 2022
//   first token      j = 0, of queries i ≥ 1: where heads rest                  Xiao et al.
//                    2023 (attention sinks)
//   induction        every j + 1 < i with token j the same as token i: what     Elhage et al. 2021;
//                    Olsson et al. 2022, who
//                    came after it before                                       call it the prefix matching
//                                                                               score
//   punctuation      every j that is a punctuation mark                         Clark et al. 2019
//   entropy          −Σ p log₂ p of the row over log₂ of the keys that it sees: 0 all on one key, 1 all alike
//
// Each score comes with the value of a head that looks at all keys equally (`uniform`): in a short text a
// "previous token" of 0.3 may be chance. Special and unknown tokens match no other token; a word that the
// tokenizer splits is compared token by token.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"
#include "core/tensor/tensor.h"

namespace headwise {

enum class HeadScore {
  previous_token,
  next_token,
  itself,
  same_word,
  first_token,
  induction,
  punctuation,
  entropy,
};
inline constexpr std::size_t head_score_count = 8;

struct HeadScoreWords {
  std::string_view id;    // "previous_token", as in files
  std::string_view name;  // "previous token"
  std::string_view what;  // one sentence
};
const HeadScoreWords& head_score_words(HeadScore score);
std::optional<HeadScore> head_score_named(std::string_view id);

struct ScoredToken {
  TokenId id = 0;
  bool of_text = true;       // false: put around the text; not counted as a query
  bool is_word = true;       // false: special or unknown, matches no other token
  bool punctuation = false;  // only punctuation marks, except for a space before them
};
std::vector<ScoredToken> scored_tokens(std::span<const EncodedToken> tokens);

// Which keys a query sees.
struct SeenKeys {
  bool is_causal = false;
  std::optional<Index> sliding_window = std::nullopt;  // > 0: keys j with |i − j| < window, including itself
  // Of these, those that it does not block (-inf in the shape of the map), and those that get weight all the
  // same. Null: all.
  TensorPtr mask = nullptr;
};

struct MeasuredScore {
  // 0 … 1; nullopt if no query counts: no word is repeated, the map is NaN, L = 1
  std::optional<double> value;
  double uniform = 0.0;  // the value for uniform weights, over the same queries
  Index queries = 0;     // that count
};

struct HeadScores {
  std::array<MeasuredScore, head_score_count> scores;  // by HeadScore
  std::optional<double> entropy_bits;  // mean of −Σ p log₂ p, over the queries of `entropy`
  Index left_out = 0;                  // queries of the text whose row is not finite, or is all zero
  const MeasuredScore& operator[](HeadScore score) const { return scores[static_cast<std::size_t>(score)]; }
};

// For attn_weights[batch, head], (N,H,L,S) in f32 or f64, with a token for each of the L = S positions. Takes
// O(L²) time. Throws Error(usage) if there is no such map, it is not square,
// or the number of tokens is not that of its rows.
HeadScores head_scores(const Tensor& attn_weights, Index batch, Index head,
                       std::span<const ScoredToken> tokens, const SeenKeys& seen);

// What one head mostly does on one text, in a word: the score of head_scores.h that stands out most.

struct HeadHabit {
  HeadScore score = HeadScore::entropy;
  double value = 0.0;    // the score: a mean weight, 0 … 1; for entropy, normalised entropy
  double uniform = 0.0;  // the value of a head that attends to all keys equally
  Index queries = 0;     // over which `value` is a mean
};

// A score stands out if it is at least this far above its value for uniform attention …
inline constexpr double habit_above_uniform = 0.25;
// … over at least this share of the queries that choose among keys: one repeated word is not a habit.
inline constexpr double habit_share_of_queries = 0.25;
// Otherwise, from this normalised entropy on, the head attends to all keys about equally.
inline constexpr double even_entropy = 0.95;

// Returns the score furthest above uniform, entropy for a head that attends evenly,
// nullopt for a head without either.
std::optional<HeadHabit> head_habit(const HeadScores& scores);

// "previous token", or in few letters "previous"; "even" for entropy.
std::string habit_name(HeadScore score);
std::string short_habit_name(HeadScore score);

}  // namespace headwise
