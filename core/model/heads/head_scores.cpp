#include "core/model/heads/head_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

#include <fmt/format.h>

#include "core/attention/softmax.h"
#include "core/model/tokenizer/unicode_text.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::array<HeadScoreWords, head_score_count> words{{
    {"previous_token", "previous token", "Mean weight on the previous token."},
    {"next_token", "next token", "Mean weight on the next token; none in causal attention."},
    {"itself", "itself", "Mean weight of a token on itself: the diagonal."},
    {"same_word", "same word",
     "Mean weight on other occurrences of the same token, over the tokens that occur more than once."},
    {"first_token", "first token", "Mean weight on the first token, where idle heads put their weight."},
    {"induction", "induction",
     "For tokens that occurred before, mean weight on what followed the earlier occurrence: typical of heads "
     "that copy."},
    {"punctuation", "punctuation", "Mean weight on punctuation marks."},
    {"entropy", "entropy",
     "How evenly a query attends to the keys that it sees: 0, all weight on one; 1, equal weights (−Σ p log₂ "
     "p over log₂ of the number of keys)."},
}};

// The positions of each token, and of the punctuation: for looking up the sparse targets of a row.
struct Places {
  std::unordered_map<TokenId, std::vector<Index>> of_word;
  std::vector<Index> punctuation;
};

Places places_of(std::span<const ScoredToken> tokens) {
  Places places;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is_word) places.of_word[tokens[i].id].push_back(static_cast<Index>(i));
    if (tokens[i].punctuation) places.punctuation.push_back(static_cast<Index>(i));
  }
  return places;
}

// The keys that a query sees: those of first … last − 1 that `hidden` does not mark; empty: all of them.
struct Keys {
  Index first, last;
  std::vector<bool> hidden;
  Index count = 0;
  bool has(Index key) const {
    return first <= key && key < last && (hidden.empty() || !hidden[static_cast<std::size_t>(key)]);
  }
};

template <class T>
Keys keys_of(Index query, Index length, const SeenKeys& seen, const T* row, Index offset) {
  Keys keys{0, seen.is_causal ? query + 1 : length, {}};
  if (seen.sliding_window) {
    keys.first = std::max<Index>(0, query - *seen.sliding_window + 1);
    keys.last = std::min(keys.last, query + *seen.sliding_window);
  }
  keys.count = keys.last - keys.first;
  if (!seen.mask) return keys;
  keys.hidden.resize(static_cast<std::size_t>(length));
  for (Index key = keys.first; key < keys.last; ++key) {
    const bool is_hidden = seen.mask->flat(offset + key) == -std::numeric_limits<double>::infinity() &&
                           !(static_cast<double>(row[key]) > 0.0);
    keys.hidden[static_cast<std::size_t>(key)] = is_hidden;
    keys.count -= is_hidden ? 1 : 0;
  }
  return keys;
}

// The sum over the queries of the weight on their targets.
class Sums {
 public:
  void add(HeadScore score, double weight, double uniform) {
    Sum& sum = sums_[static_cast<std::size_t>(score)];
    sum.weight += weight;
    sum.uniform += uniform;
    ++sum.queries;
  }
  MeasuredScore mean(std::size_t score) const {
    const Sum& sum = sums_[score];
    if (sum.queries == 0) return {};
    const auto queries = static_cast<double>(sum.queries);
    // Rounding may leave a row's sum a little above 1.
    return {std::clamp(sum.weight / queries, 0.0, 1.0), sum.uniform / queries, sum.queries};
  }

 private:
  struct Sum {
    double weight = 0.0, uniform = 0.0;
    Index queries = 0;
  };
  std::array<Sum, head_score_count> sums_;
};

// Adds up weights of a row, and counts them.
template <class T>
struct Target {
  const T* row;
  const Keys& keys;
  double weight = 0.0;
  Index count = 0;
  void take(Index key) {
    if (!keys.has(key)) return;
    weight += static_cast<double>(row[key]);
    ++count;
  }
};

template <class T>
HeadScores measure(const T* maps, Index offset, std::span<const ScoredToken> tokens, const SeenKeys& seen) {
  const auto length = static_cast<Index>(tokens.size());
  const Places places = places_of(tokens);
  static const std::vector<Index> nowhere;
  HeadScores measured;
  Sums sums;
  double bits = 0.0;
  for (Index query = 0; query < length; ++query) {
    const ScoredToken& token = tokens[static_cast<std::size_t>(query)];
    if (!token.of_text) continue;
    const Index begin = offset + query * length;
    const T* const row = maps + begin;
    const Keys keys = keys_of(query, length, seen, row, begin);
    const auto nats = row_entropy(keys.first, keys.last, [row](Index key) { return row[key]; });
    if (keys.last - keys.first < 2 || (nats && keys.count < 2)) continue;
    if (!nats) {
      ++measured.left_out;
      continue;
    }
    const auto add = [&](HeadScore score, const auto& targets) {
      Target<T> target{row, keys};
      for (const Index key : targets) target.take(key);
      if (target.count > 0)
        sums.add(score, target.weight, static_cast<double>(target.count) / static_cast<double>(keys.count));
    };
    const auto one = [](Index key) { return std::array{key}; };
    add(HeadScore::previous_token, one(query - 1));
    add(HeadScore::next_token, one(query + 1));
    add(HeadScore::itself, one(query));
    if (query > 0) add(HeadScore::first_token, one(0));
    add(HeadScore::punctuation, places.punctuation);
    const std::vector<Index>& same = token.is_word ? places.of_word.at(token.id) : nowhere;
    std::vector<Index> others, after;
    for (const Index place : same) {
      if (place != query) others.push_back(place);
      if (place + 1 < query) after.push_back(place + 1);
    }
    add(HeadScore::same_word, others);
    add(HeadScore::induction, after);
    sums.add(HeadScore::entropy, *nats / std::log(static_cast<double>(keys.count)), 1.0);
    bits += *nats / std::numbers::ln2;
  }
  for (std::size_t score = 0; score < head_score_count; ++score) measured.scores[score] = sums.mean(score);
  const Index queries = measured[HeadScore::entropy].queries;
  if (queries > 0) measured.entropy_bits = bits / static_cast<double>(queries);
  return measured;
}

// Ignores a leading space, as written by byte-level BPE ("Ġ,") and SentencePiece ("▁,"),
// and WordPiece's "##".
bool is_mark(std::string_view piece) {
  for (const std::string_view before : {"Ġ", "▁", "##"})
    if (piece.size() > before.size() && piece.starts_with(before)) piece.remove_prefix(before.size());
  if (piece.empty()) return false;
  for (std::size_t at = 0; at < piece.size();) {
    const CodePoint point = code_point_at(piece, at);
    if (!is_punctuation(point.value)) return false;
    at += point.bytes;
  }
  return true;
}

[[noreturn]] void refuse(const std::string& got, const std::string& expected) {
  throw Error(ExitStatus::usage,
              {"head scores", "the weights and the tokens do not fit together", got, expected, ""});
}

constexpr std::array<std::string_view, head_score_count> short_names{
    "previous", "next", "itself", "same", "first", "induction", "marks", "even"};

}  // namespace

const HeadScoreWords& head_score_words(HeadScore score) {
  return words[static_cast<std::size_t>(score)];
}

std::optional<HeadScore> head_score_named(std::string_view id) {
  const auto found = std::ranges::find(words, id, &HeadScoreWords::id);
  if (found == words.end()) return std::nullopt;
  return static_cast<HeadScore>(found - words.begin());
}

std::vector<ScoredToken> scored_tokens(std::span<const EncodedToken> tokens) {
  std::vector<ScoredToken> scored;
  scored.reserve(tokens.size());
  for (const EncodedToken& token : tokens)
    scored.push_back({.id = token.id,
                      .of_text = !token.special || token.begin < token.end,
                      .is_word = !token.special && !token.unknown,
                      .punctuation = !token.special && is_mark(token.piece)});
  return scored;
}

HeadScores head_scores(const Tensor& attn_weights, Index batch, Index head,
                       std::span<const ScoredToken> tokens, const SeenKeys& seen) {
  const Shape& shape = attn_weights.shape();
  const auto length = static_cast<Index>(tokens.size());
  if (shape.rank() != 4 || batch < 0 || batch >= shape.size(0) || head < 0 || head >= shape.size(1) ||
      shape.size(2) != length || shape.size(3) != length) {
    refuse(fmt::format("{} with {} tokens, head {} of sequence {}", shape.to_string(), length, head, batch),
           "(N,H,L,L), and one token for each of the L positions");
  }
  if (seen.mask && !seen.mask->shape().same_sizes(shape))
    refuse("a mask " + seen.mask->shape().to_string(), "the shape of the weights, " + shape.to_string());
  const Index offset = (batch * shape.size(1) + head) * length * length;
  if (attn_weights.dtype() == DType::f64)
    return measure(attn_weights.values<double>().data(), offset, tokens, seen);
  if (attn_weights.dtype() == DType::f32)
    return measure(attn_weights.values<float>().data(), offset, tokens, seen);
  refuse(dtype_name(attn_weights.dtype()), "f32 or f64");
}

std::optional<HeadHabit> head_habit(const HeadScores& scores) {
  const MeasuredScore& entropy = scores[HeadScore::entropy];
  const double least_queries = habit_share_of_queries * static_cast<double>(entropy.queries);
  std::optional<HeadHabit> habit;
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const auto score = static_cast<HeadScore>(i);
    const MeasuredScore& measured = scores[score];
    if (score == HeadScore::entropy || !measured.value || static_cast<double>(measured.queries) < least_queries)
      continue;
    const double above = *measured.value - measured.uniform;
    if (above < habit_above_uniform || (habit && above <= habit->value - habit->uniform)) continue;
    habit = HeadHabit{score, *measured.value, measured.uniform, measured.queries};
  }
  if (!habit && entropy.value && *entropy.value >= even_entropy)
    habit = HeadHabit{HeadScore::entropy, *entropy.value, entropy.uniform, entropy.queries};
  return habit;
}

std::string habit_name(HeadScore score) {
  return std::string(score == HeadScore::entropy ? "even" : head_score_words(score).name);
}

std::string short_habit_name(HeadScore score) {
  return std::string(short_names[static_cast<std::size_t>(score)]);
}

}  // namespace headwise
