#include "core/lessons/given_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/lessons/given_kinds.h"
#include "core/lessons/live_text.h"
#include "core/lessons/operation_counts.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t most_typed_bytes = 200;
constexpr Index most_written_index = 1'000'000'000;

std::size_t written_index(double number) {
  return static_cast<std::size_t>(number);
}

// How a homework writes them.

WrittenAnswer written_text(const JsonValue& value) {
  WrittenAnswer written{value.text(), {}};
  if (written.text.size() > most_typed_bytes)
    value.refuse("the text is too long", fmt::format("at most {} bytes", most_typed_bytes));
  return written;
}

template <Index least, Index most>
WrittenAnswer written_whole(const JsonValue& value) {
  return {"", {static_cast<double>(value.integer(least, most))}};
}

void add_pair(const JsonValue& value, WrittenAnswer& written) {
  value.list("[row, column]");
  if (value.json().size() != 2) value.refuse("this is no pair", "[row, column]");
  value.each(
      [&](const JsonValue& index) {
        written.numbers.push_back(static_cast<double>(index.integer(0, most_written_index)));
      },
      true);
}

WrittenAnswer written_pair(const JsonValue& value) {
  WrittenAnswer written;
  add_pair(value, written);
  return written;
}

// Checked before anything is kept of it.
void check_length(const JsonValue& list, std::size_t least, Index most, const char* what) {
  const std::string expected = fmt::format("a list of {} to {} {}", least, most, what);
  list.list(expected);
  const std::size_t size = list.json().size();
  if (size < least || size > static_cast<std::size_t>(most)) list.refuse("wrong length", expected);
}

WrittenAnswer written_weights(const JsonValue& value) {
  struct Weights {
    bool contains(double number) const { return number >= 0.0 && number <= 1e6; }
    std::string text() const { return "a weight of at least 0"; }
  };
  check_length(value, 2, PageAnswer::most_weights, "weights");
  WrittenAnswer written;
  value.each([&](const JsonValue& weight) { written.numbers.push_back(weight.number(Weights{})); }, true);
  return written;
}

WrittenAnswer written_pairs(const JsonValue& value) {
  check_length(value, 0, PageAnswer::most_pairs, "pairs");
  WrittenAnswer written;
  value.each([&](const JsonValue& pair) { add_pair(pair, written); }, true);
  return written;
}

// What they mean on the page.

using Read = std::optional<GivenAnswer>;

Read read_number(const WrittenAnswer& written, const AnsweredQuestion&) {
  const std::optional<double> number = typed_number(written.text);
  return number ? Read({.number = *number}) : Read();
}

Read read_shape(const WrittenAnswer& written, const AnsweredQuestion& of) {
  std::vector<Index> sizes = typed_sizes(written.text, of.subject);
  return sizes.empty() ? Read() : Read({.sizes = std::move(sizes)});
}

Read read_choice(const WrittenAnswer& written, const AnsweredQuestion& of) {
  const std::size_t option = written_index(written.numbers[0]) - 1;
  return option < of.answer.options.size() ? Read({.option = option}) : Read();
}

Read read_tensor(const WrittenAnswer& written, const AnsweredQuestion& of) {
  const auto& options = of.answer.options;
  const auto named = std::ranges::find(options, written.text, &AnswerOption::text);
  if (named == options.end()) return {};
  return GivenAnswer{.option = static_cast<std::size_t>(named - options.begin())};
}

Read read_head(const WrittenAnswer& written, const AnsweredQuestion& of) {
  const auto head = static_cast<Index>(written.numbers[0]);
  return head < of.subject.trace.options.num_heads ? Read({.head = head}) : Read();
}

Read read_cell(const WrittenAnswer& written, const AnsweredQuestion&) {
  return GivenAnswer{.row = static_cast<Index>(written.numbers[0]),
                     .column = static_cast<Index>(written.numbers[1])};
}

Read read_weights(const WrittenAnswer& written, const AnsweredQuestion&) {
  GivenAnswer given{.weights = written.numbers};
  const double sum = std::accumulate(given.weights.begin(), given.weights.end(), 0.0);
  if (sum <= 0.0) return {};
  for (double& weight : given.weights) weight /= sum;
  return given;
}

Read read_mask(const WrittenAnswer& written, const AnsweredQuestion& of) {
  GivenAnswer given;
  if (!of.key.mask) return given;
  given.pairs = *of.key.mask;
  given.pairs.blocked.assign(of.key.mask->blocked.size(), false);
  for (std::size_t i = 0; i + 1 < written.numbers.size(); i += 2) {
    const auto row = static_cast<Index>(written.numbers[i]),
               column = static_cast<Index>(written.numbers[i + 1]);
    if (!given.pairs.has(row, column)) return {};
    given.pairs.blocked[given.pairs.place(row, column)] = true;
  }
  return given;
}

// Whether they are right.

using Right = std::optional<bool>;

Right number_right(const PageAnswer& answer, const AnswerKey& key, const GivenAnswer& given) {
  if (!key.number) return {};
  const double off = std::abs(given.number - *key.number);
  return off <= answer.within || off <= answer.within_share * std::abs(*key.number);
}

Right shape_right(const PageAnswer&, const AnswerKey& key, const GivenAnswer& given) {
  return key.sizes.empty() ? Right() : given.sizes == key.sizes;
}

Right option_right(const PageAnswer&, const AnswerKey& key, const GivenAnswer& given) {
  return key.option ? given.option == *key.option : Right();
}

Right head_right(const PageAnswer&, const AnswerKey& key, const GivenAnswer& given) {
  return key.head ? given.head == *key.head : Right();
}

Right cell_right(const PageAnswer&, const AnswerKey& key, const GivenAnswer& given) {
  if (!key.row && !key.column) return {};
  return (!key.row || *key.row == given.row) && (!key.column || *key.column == given.column);
}

Right weights_right(const PageAnswer& answer, const AnswerKey& key, const GivenAnswer& given) {
  if (!key.weights || key.weights->weights.size() != given.weights.size()) return {};
  const double misplaced = misplaced_weight(given.weights, key.weights->weights);
  return misplaced < to_two_digits || misplaced <= answer.within;
}

Right mask_right(const PageAnswer&, const AnswerKey& key, const GivenAnswer& given) {
  if (!key.mask || !given.pairs.is_box_of(*key.mask)) return {};
  return given.pairs.blocked == key.mask->blocked;
}

// In words.

std::string words_of_number(const PageWords&, const GivenAnswer& given) {
  return number_words(given.number);
}

std::string words_of_shape(const PageWords&, const GivenAnswer& given) {
  return fmt::format("({})", join(given.sizes, ","));
}

std::string words_of_option(const PageWords& words, const GivenAnswer& given) {
  return named_option(words.options, given.option);
}

std::string words_of_head(const PageWords&, const GivenAnswer& given) {
  return fmt::format("head {}", given.head);
}

std::string words_of_cell(const PageWords& words, const GivenAnswer& given) {
  return cell_words(words.rows, words.columns, given.row, given.column);
}

std::string words_of_weights(const PageWords& words, const GivenAnswer& given) {
  const auto most = static_cast<std::size_t>(std::ranges::max_element(given.weights) - given.weights.begin());
  const std::vector<std::string>& labels = words.weight_labels;
  return fmt::format("a row, largest at “{}”", most < labels.size() ? labels[most] : std::to_string(most));
}

std::string words_of_mask(const PageWords&, const GivenAnswer& given) {
  const std::vector<bool>& blocked = given.pairs.blocked;
  return fmt::format("{} of {} pairs blocked", std::ranges::count(blocked, true), blocked.size());
}

}  // namespace

const GivenKind number_given{written_text, read_number, number_right, words_of_number};
const GivenKind choice_given{written_whole<1, static_cast<Index>(PageAnswer::most_options)>, read_choice,
                             option_right, words_of_option};
const GivenKind shape_given{written_text, read_shape, shape_right, words_of_shape};
const GivenKind head_given{written_whole<0, most_written_index>, read_head, head_right, words_of_head};
const GivenKind cell_given{written_pair, read_cell, cell_right, words_of_cell};
const GivenKind tensor_given{written_text, read_tensor, option_right, words_of_option};
const GivenKind weights_given{written_weights, read_weights, weights_right, words_of_weights};
const GivenKind mask_given{written_pairs, read_mask, mask_right, words_of_mask};

std::optional<bool> is_right(const PageAnswer& answer, const AnswerKey& key, const GivenAnswer& given) {
  return given_kind(answer.kind).right(answer, key, given);
}

std::optional<GivenAnswer> AnsweredQuestion::given(const WrittenAnswer& written) const {
  return given_kind(answer.kind).read(written, *this);
}

std::string given_words(const PageAnswer& answer, const PageWords& words, const GivenAnswer& given) {
  return given_kind(answer.kind).words(words, given);
}

std::string number_words(double number) {
  const double size = std::abs(number);
  if (number != std::floor(number) || size >= 1e9) return live_number(number);
  return (number < 0.0 ? "−" : "") + count_text(static_cast<Index>(size));
}

std::string named_option(const std::vector<std::string>& options, std::size_t option) {
  std::string text = options[option];
  for (const auto& [outer, inner] : {std::pair{"“", "‘"}, {"”", "’"}})
    for (std::size_t at = text.find(outer); at != std::string::npos; at = text.find(outer))
      text.replace(at, std::string_view(outer).size(), inner);
  return fmt::format("{}, “{}”", option + 1, text);
}

}  // namespace headwise
