#include "core/scenario/embeddings.h"

#include <utf8proc.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>

#include "core/model/tokenizer/unicode_text.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/memory.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

enum class CharacterKind { separator, letter, digit, joiner, ideograph, symbol };

// A grapheme cluster: its bytes in the text, and its first code point, which decides what it is.
struct Cluster {
  std::size_t begin = 0, end = 0;
  utf8proc_int32_t first = 0;
  CharacterKind kind = CharacterKind::symbol;
};

struct CodePointRange {
  utf8proc_int32_t first, last;
};

// Unicode's blocks whose text is written without spaces, one character being about a word: CJK radicals,
// ideographs and their extensions, Hiragana, Katakana, Bopomofo.
// clang-format off
constexpr auto ideograph_ranges = std::to_array<CodePointRange>({
    {0x2E80, 0x2FDF}, {0x3005, 0x3007}, {0x3021, 0x3029}, {0x3031, 0x3035}, {0x3041, 0x30FF}, {0x3105, 0x312F},
    {0x31A0, 0x31BF}, {0x31F0, 0x31FF}, {0x3400, 0x9FFF}, {0xF900, 0xFAFF}, {0xFF66, 0xFF9D},
    {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFD}});  // the last two: supplementary kana, supplementary ideographs
// clang-format on

bool is_ideograph(utf8proc_int32_t c) {
  return std::ranges::any_of(
      ideograph_ranges, [c](const CodePointRange& range) { return c >= range.first && c <= range.last; });
}

CharacterKind kind_of(utf8proc_int32_t c) {
  constexpr utf8proc_int32_t soft_hyphen = 0x00AD, katakana_middle_dot = 0x30FB, apostrophe = 0x2019;
  if (c < 0) return CharacterKind::symbol;  // not UTF-8
  if (c == soft_hyphen) return CharacterKind::letter;
  if (c == '\'' || c == apostrophe || c == '-' || c == '.' || c == ',') return CharacterKind::joiner;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
      return CharacterKind::separator;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_NL:
      return is_ideograph(c) && c != katakana_middle_dot ? CharacterKind::ideograph : CharacterKind::letter;
    case UTF8PROC_CATEGORY_ND:
      return CharacterKind::digit;
    case UTF8PROC_CATEGORY_NO:
      return CharacterKind::digit;
    default:
      return c == '_' ? CharacterKind::letter : CharacterKind::symbol;
  }
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

Cluster next_cluster(std::string_view text, std::size_t begin) {
  // ASCII before ASCII is a cluster (a carriage return may have its line feed): the common case,
  // ten times as fast.
  if (is_ascii(text[begin]) && text[begin] != '\r' && (begin + 1 == text.size() || is_ascii(text[begin + 1])))
    return {begin, begin + 1, text[begin], kind_of(text[begin])};
  Cluster cluster{begin, begin, -1, CharacterKind::symbol};
  CodePoint current = code_point_at(text, begin);
  cluster.first = current.value;
  cluster.kind = kind_of(current.value);
  cluster.end = begin + current.bytes;
  utf8proc_int32_t state = 0;
  while (current.value >= 0 && cluster.end < text.size()) {
    const CodePoint next = code_point_at(text, cluster.end);
    if (next.value < 0 || utf8proc_grapheme_break_stateful(current.value, next.value, &state)) break;
    cluster.end += next.bytes;
    current = next;
    // A format character that prepends (U+0600) is part of what follows it, not a separator.
    if (cluster.kind == CharacterKind::separator && next.value != '\n') cluster.kind = CharacterKind::symbol;
  }
  return cluster;
}

std::string normalised(std::string_view text) {
  if (std::ranges::all_of(text, is_ascii)) {
    std::string folded(text);
    for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return folded;
  }
  utf8proc_uint8_t* mapped = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length < 0) return std::string(text);  // not UTF-8: equal bytes are equal words
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length)};
}

bool joins(const Cluster& joiner, CharacterKind before, CharacterKind after) {
  const bool number_sign = joiner.first == '.' || joiner.first == ',';
  if (number_sign) return before == CharacterKind::digit && after == CharacterKind::digit;
  return (before == CharacterKind::letter || before == CharacterKind::digit) &&
         (after == CharacterKind::letter || after == CharacterKind::digit);
}

// Where an English contraction begins inside a word, or word.size(): didn't → 3, it's → 2.
std::size_t contraction(std::string_view word) {
  constexpr std::string_view curly = "\u2019";
  for (const std::string_view suffix : {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"}) {
    std::size_t at = word.size();
    bool matches = true;
    for (std::size_t i = suffix.size(); matches && i-- > 0;) {
      const std::string_view rest = word.substr(0, at);
      if (suffix[i] == '\'' && rest.ends_with(curly)) {
        at -= curly.size();
      } else {
        matches = !rest.empty() && (rest.back() == suffix[i] || rest.back() == suffix[i] - 'a' + 'A');
        at -= matches ? 1 : 0;
      }
    }
    if (matches && at > 0) return at;
  }
  return word.size();
}

// The end of the word that begins with `first`.
std::size_t word_end(std::string_view text, const Cluster& first) {
  Cluster last = first;
  while (last.end < text.size()) {
    const Cluster next = next_cluster(text, last.end);
    if (next.kind == CharacterKind::letter || next.kind == CharacterKind::digit) {
      last = next;
      continue;
    }
    if (next.kind != CharacterKind::joiner || next.end >= text.size()) break;
    const Cluster after = next_cluster(text, next.end);
    if (!joins(next, last.kind, after.kind)) break;
    last = after;
  }
  return last.end;
}

// Passes each token to `sink`, in order.
template <class Sink>
void for_each_token(std::string_view text, const Sink& sink) {
  for (std::size_t at = 0; at < text.size();) {
    const Cluster cluster = next_cluster(text, at);
    at = cluster.end;
    if (cluster.kind == CharacterKind::separator) continue;
    if (cluster.kind == CharacterKind::letter || cluster.kind == CharacterKind::digit) {
      at = word_end(text, cluster);
      const std::string_view word = text.substr(cluster.begin, at - cluster.begin);
      const std::size_t cut = contraction(word);
      sink(word.substr(0, cut));
      if (cut < word.size()) sink(word.substr(cut));
    } else {
      sink(text.substr(cluster.begin, cluster.end - cluster.begin));
    }
  }
}

std::string word_stream(std::string_view lookup) {
  return "word:" + std::string(lookup);
}

double angle(const CounterRandom& random, Index pair) {
  return 2.0 * std::numbers::pi * random.uniform(static_cast<std::uint64_t>(pair));
}

void set_pair(std::vector<double>& row, Index column, double radians) {
  row[static_cast<std::size_t>(column)] = std::sin(radians);
  row[static_cast<std::size_t>(column) + 1] = std::cos(radians);
}

template <class T>
void fill_embedding(Tensor& tensor, const std::vector<Token>& tokens, Index batch,
                    const EmbeddingLayout& layout, std::uint64_t seed, bool positions) {
  const std::span<T> values = tensor.values<T>();
  auto out = values.begin();
  std::vector<double> row(static_cast<std::size_t>(layout.width));
  for (std::size_t position = 0; position < tokens.size(); ++position) {
    const CounterRandom random(seed, word_stream(tokens[position].lookup));
    std::ranges::fill(row, 0.0);
    if (layout.width == 1) row[0] = std::cos(angle(random, 0));
    for (Index p = 0; p < layout.word_pairs; ++p) set_pair(row, 2 * p, angle(random, p));
    for (Index p = 0; positions && p < layout.position_pairs; ++p)
      set_pair(row, layout.position_column() + 2 * p,
               static_cast<double>(position) * sinusoid_frequency(p, layout.position_pairs));
    if (layout.constant_pairs == 1) set_pair(row, layout.constant_column() - 1, 0.0);
    out = std::ranges::transform(row, out, [](double value) { return static_cast<T>(value); }).out;
  }
  const auto sentence = static_cast<std::size_t>(static_cast<Index>(tokens.size()) * layout.width);
  for (Index n = 1; n < batch; ++n) out = std::copy_n(values.begin(), sentence, out);
}

}  // namespace

Index token_count(std::string_view text) {
  Index count = 0;
  for_each_token(text, [&count](std::string_view) { ++count; });
  return count;
}

std::string_view first_tokens(std::string_view text, Index count) {
  std::size_t end = 0;
  for_each_token(text, [&](std::string_view word) {
    if (count-- > 0) end = static_cast<std::size_t>(word.data() + word.size() - text.data());
  });
  return text.substr(0, end);
}

std::vector<Token> tokenise(std::string_view text) {
  const Index count = token_count(text);
  // The words' storage beyond the inline buffer of std::string is about three times the text: text, lookup,
  // slack.
  const Index held = checked_multiply(count, sizeof(Token), "tokens") + 3 * static_cast<Index>(text.size());
  require_memory(held, "the tokens of the text");
  std::vector<Token> tokens;
  tokens.reserve(static_cast<std::size_t>(count));
  for_each_token(text, [&tokens](std::string_view word) {
    tokens.push_back({std::string(word), normalised(word)});
  });
  return tokens;
}

double sinusoid_frequency(Index pair, Index pairs) {
  constexpr double base = 10000.0;
  return std::pow(base, -static_cast<double>(pair) / static_cast<double>(pairs));
}

PositionKernel PositionKernel::strided(Index count, Index stride, Index of) {
  PositionKernel kernel;
  for (Index i = 0; i < count; ++i) {
    kernel.pairs.push_back(i * stride);
    kernel.frequencies.push_back(sinusoid_frequency(i * stride, of));
  }
  return kernel;
}

double PositionKernel::value(Index distance) const {
  double sum = 0.0;
  for (const double frequency : frequencies) sum += std::cos(frequency * static_cast<double>(distance));
  return sum;
}

double PositionKernel::largest_beside(Index reach) const {
  double largest = -peak();
  for (Index distance = 1; distance < reach; ++distance) largest = std::max(largest, value(distance));
  return largest;
}

double PositionKernel::smallest(Index reach) const {
  double least = peak();
  for (Index distance = 1; distance < reach; ++distance) least = std::min(least, value(distance));
  return least;
}

double PositionKernel::sharpness(Index reach, double share, double most) const {
  // Σ over one side of exp(β·(K(δ) − K(0))) decreases with β: bisection.
  const double allowed = (1.0 / share - 1.0) / 2.0;
  if (std::exp(-most * (peak() - value(1))) > allowed) return most;  // the adjacent one alone takes too much
  std::vector<double> gaps;
  for (Index distance = 1; distance < reach; ++distance) gaps.push_back(peak() - value(distance));
  double low = 0.0, high = most;
  for (int step = 0; step < 50; ++step) {
    const double beta = (low + high) / 2.0;
    double beside = 0.0;
    for (auto gap = gaps.begin(); gap != gaps.end() && beside <= allowed; ++gap)
      beside += std::exp(-beta * *gap);
    (beside <= allowed ? high : low) = beta;
  }
  return high;
}

EmbeddingLayout embedding_layout(Index width) {
  EmbeddingLayout layout{.width = width};
  const Index pairs = width / 2;
  layout.constant_pairs = pairs >= 3 ? 1 : 0;
  layout.position_pairs = (pairs - layout.constant_pairs) / 2;
  layout.word_pairs = pairs - layout.constant_pairs - layout.position_pairs;
  return layout;
}

Tensor text_embeddings(const std::vector<Token>& tokens, Index batch, const EmbeddingLayout& layout,
                       std::uint64_t seed, bool positions, DType dtype, const char* length_axis,
                       const char* width_axis) {
  Tensor tensor({{"N", batch}, {length_axis, static_cast<Index>(tokens.size())}, {width_axis, layout.width}},
                dtype);
  if (batch == 0) return tensor;
  dispatch_float(dtype, [&]<class T>() { fill_embedding<T>(tensor, tokens, batch, layout, seed, positions); });
  return tensor;
}

}  // namespace headwise
