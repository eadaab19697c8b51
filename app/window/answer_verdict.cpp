// How an answer given compares with the key.
#include "app/window/answer_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/answers/live_text.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

std::string number_words(double number) {
  const double size = std::abs(number);
  if (number != std::floor(number) || size >= 1e9) return live_number(number);
  return fmt::format("{}{:.0f}", number < 0.0 ? "−" : "", size);
}

std::string with_unit(const std::string& number, const PageAnswer& answer) {
  return answer.unit.empty() ? number : number + " " + answer.unit;
}

// With the author's reason behind it, if there is one.
std::string with_why(const std::string& verdict, const std::string& why) {
  return verdict.empty() || why.empty() ? verdict : verdict + " " + why;
}

// "1, “at ‘animal’”": what it quotes itself stands in single marks.
std::string named_option(const PageWords& words, std::size_t option) {
  std::string text = words.options[option];
  for (const auto& [outer, inner] : {std::pair{"“", "‘"}, {"”", "’"}})
    for (std::size_t at = text.find(outer); at != std::string::npos; at = text.find(outer))
      text.replace(at, std::string_view(outer).size(), inner);
  return fmt::format("{}, “{}”", option + 1, text);
}

std::string number_verdict(const PageAnswer& answer, const AnswerKey& key, double given) {
  const std::string said = fmt::format("You said {}", number_words(given));
  if (key.waits) return said + ". The right number takes too long to be computed here.";
  if (!key.number) return said + ". As the page is now, there is no right number to compare it with.";
  const std::string is = with_unit(key.shown, answer);
  if (given == *key.number) return fmt::format("{}: right.", said);
  if (is_right(answer, *key.number, given)) return fmt::format("{}: right, it is {}.", said, is);
  const double off = given - *key.number;
  return fmt::format("{}; it is {}: {} too {}.", said, is, number_words(std::abs(off)),
                     off > 0.0 ? "high" : "low");
}

std::string shape_verdict(const AnswerKey& key, std::vector<Index> given) {
  const std::string said = fmt::format("You said ({})", join(given, ","));
  if (key.sizes.empty()) return said + ". As the page is now, there is no such tensor.";
  if (given == key.sizes) return said + ": right.";
  std::vector<Index> right = key.sizes;
  std::ranges::sort(right);
  std::ranges::sort(given);
  return fmt::format("{}; it is {}.{}", said, key.shown,
                     given == right ? " The sizes are right, their order is not." : "");
}

// The given cell is named as the key is, by what decides.
std::string cell_verdict(const PageWords& words, const CellRef& given) {
  const AnswerKey& key = words.key;
  const Index row = given.index[given.index.size() - 2], column = given.index.back();
  const std::string said = "You pointed at " + cell_words(words.rows, words.columns, row, column);
  if (!key.row && !key.column) return said + ". As the page is now, there is no right cell.";
  const bool right = (!key.row || *key.row == row) && (!key.column || *key.column == column);
  return right ? fmt::format("{}: right.", said) : fmt::format("{}; right is {}.", said, key.shown);
}

// "0.70 of the weight lies at the wrong keys; largest at “because”: you drew 0.2, it is 0.901."
std::string weights_verdict(const PageAnswer& answer, const PageWords& words, const std::vector<double>& given) {
  if (!words.key.weights || words.key.weights->weights.size() != given.size())
    return "You drew a row of weights. As the page is now, there is none of this length to compare it with.";
  const std::vector<double>& right = words.key.weights->weights;
  const double misplaced = misplaced_weight(given, right);
  std::size_t most = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (std::abs(given[i] - right[i]) > std::abs(given[most] - right[most])) most = i;
  const bool is_right = misplaced <= answer.within;
  std::string told = fmt::format("You drew a row of weights{} {:.2f} of the weight lies at the wrong keys",
                                 is_right ? ": right," : ";", misplaced);
  if (misplaced < 0.005) return "You drew a row of weights: right, to two digits.";
  return told + fmt::format("; the largest difference is at “{}”: you drew {:.2f}, it is {:.2f}.",
                            words.weight_labels[most], given[most], right[most]);
}

std::string mask_verdict(const AnswerKey& key, const AnswerMask& given) {
  const auto painted = std::ranges::count(given.blocked, true);
  const std::string said = fmt::format("You blocked {} of {} pairs", painted, given.blocked.size());
  if (key.waits) return said + ". Which ones are blocked takes too long to be computed here.";
  if (!key.mask || key.mask->rows != given.rows || key.mask->columns != given.columns ||
      key.mask->row != given.row || key.mask->column != given.column)
    return said + ". As the page is now, there is no mask of this size to compare them with.";
  std::size_t missed = 0, too_many = 0;
  for (std::size_t i = 0; i < given.blocked.size(); ++i) {
    if (given.blocked[i] && !key.mask->blocked[i]) ++too_many;
    if (!given.blocked[i] && key.mask->blocked[i]) ++missed;
  }
  if (missed + too_many == 0) return said + ": right.";
  std::string how = fmt::format("{} blocked {} missed", missed, missed == 1 ? "pair is" : "pairs are");
  if (missed == 0)
    how = fmt::format("{} open {} blocked", too_many, too_many == 1 ? "pair is" : "pairs are");
  else if (too_many > 0)
    how += fmt::format(", {} open {} blocked", too_many, too_many == 1 ? "pair is" : "pairs are");
  return fmt::format("{}; {} wrong, outlined on the map: {}.", said,
                     missed + too_many == 1 ? "1 is" : fmt::format("{} are", missed + too_many), how);
}

}  // namespace

std::string choice_verdict(const PageWords& words, std::size_t given) {
  const auto named = [&](std::size_t i) { return named_option(words, i); };
  if (words.key.waits)
    return fmt::format("You chose {}. Its numbers take too long to be computed here.", named(given));
  if (!words.key.option)
    return fmt::format("You chose {}. As the page is now, no single option is right.", named(given));
  if (*words.key.option == given) return fmt::format("You chose {}: right.", named(given));
  const std::string& why = words.whys[given];
  return fmt::format("You chose {}; right is {}.{}{}", named(given), named(*words.key.option),
                     why.empty() ? "" : " ", why);
}

std::string right_answer(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  const AnswerKey& key = walk.words.key;
  if (key.waits) return "What is right takes too long to be computed here.";
  switch (page->answer->kind) {
    case AnswerKind::number:
      return key.number
                 ? with_why(fmt::format("It is {}.", with_unit(key.shown, *page->answer)), walk.words.why)
                 : "";
    case AnswerKind::shape:
      return key.sizes.empty() ? "" : fmt::format("It is {}.", key.shown);
    case AnswerKind::head:
      return key.head ? fmt::format("The right head is {}.", *key.head) : "";
    case AnswerKind::cell:
      return key.row || key.column ? fmt::format("Right is {}.", key.shown) : "";
    case AnswerKind::choice:
    case AnswerKind::tensor:
      return key.option && *key.option < walk.words.options.size()
                 ? fmt::format("Right is {}.", named_option(walk.words, *key.option))
                 : "";
    case AnswerKind::weights: {
      if (!key.weights || key.weights->weights.size() != walk.words.weight_labels.size()) return "";
      const std::vector<double>& weights = key.weights->weights;
      const auto largest = std::ranges::max_element(weights);
      return fmt::format("The largest weight is {:.2f}, at “{}”.", *largest,
                         walk.words.weight_labels[static_cast<std::size_t>(largest - weights.begin())]);
    }
    case AnswerKind::mask:
      return key.mask ? fmt::format("{} of {} pairs are blocked.",
                                    std::ranges::count(key.mask->blocked, true), key.mask->blocked.size())
                      : "";
  }
  return "";
}

std::string answer_verdict(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  const PlaylistWalk::Given& given = walk.given;
  const AnswerKey& key = walk.words.key;
  if (given.gives_bars) return weights_verdict(*page->answer, walk.words, given.bars);
  if (given.gives_mask) return mask_verdict(key, given.mask);
  if (given.head) {
    const std::string said = fmt::format("You chose head {}", *given.head);
    if (!key.head) return said + ". As the page is now, there is no right one.";
    return *key.head == *given.head ? said + ": right." : fmt::format("{}; right is head {}.", said, *key.head);
  }
  if (!given.sizes.empty()) return shape_verdict(key, given.sizes);
  if (given.cell) return cell_verdict(walk.words, *given.cell);
  if (given.number) return with_why(number_verdict(*page->answer, key, *given.number), walk.words.why);
  if (given.option && *given.option < walk.words.options.size())
    return choice_verdict(walk.words, *given.option);
  return walk.answered ? right_answer(walk) : "";
}

}  // namespace headwise
