// Parses the contents of a pair of braces.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/lessons/live_value.h"
#include "core/model/heads/head_scores.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::string_view of_a_box[] = {"sum",       "mean",   "max",    "min",
                                         "deviation", "argmax", "finite", "distinct"};
constexpr std::string_view alone[] = {"N", "L", "P", "S",  "S′",    "E",
                                      "H", "G", "D", "Dv", "scale", "parameters"};

constexpr std::string_view of_a_training[] = {"step", "loss", "accuracy"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// "S′", but not "√D" or "≤": the prime is the only non-ASCII letter in a name.
constexpr std::string_view prime = "′";

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

// A name and the box after it: "scores[0,0,8,:]".
std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  std::size_t size = 0;
  while (size < text.size() && is_name_character(text[size])) {
    if (static_cast<unsigned char>(text[size]) < 0x80) {
      ++size;
    } else if (text.substr(size).starts_with(prime)) {
      size += prime.size();
    } else {
      break;
    }
  }
  if (size < text.size() && text[size] == '[') {
    const std::size_t end = text.find(']', size);
    size = end == std::string_view::npos ? text.size() : end + 1;
  }
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

Index read_index(std::string_view text, std::string_view word) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse_live_text(word, "an index cannot be read",
                     "a whole number (negative: from the end), ':' or 'from:to'");
  return value;
}

LiveRange read_range(std::string_view text, std::string_view word) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const Index at = read_index(text, word);
    return {at, at + 1};
  }
  LiveRange range;
  if (colon > 0) range.from = read_index(text.substr(0, colon), word);
  if (colon + 1 < text.size()) range.to = read_index(text.substr(colon + 1), word);
  return range;
}

LiveBox read_box(std::string_view word) {
  const std::size_t bracket = word.find('[');
  const std::string_view name = word.substr(0, bracket);
  const auto tensor = find_tensor_name(name);
  if (!tensor)
    refuse_live_text(word, fmt::format("there is no tensor '{}'", name),
                     fmt::format("a tensor: {}", suggestion(nearest_tensor_name(name))));
  LiveBox box{*tensor, {}};
  if (bracket == std::string_view::npos) return box;
  if (word.back() != ']') refuse_live_text(word, "an unterminated box", "']' behind the last index");
  std::string_view rest = word.substr(bracket + 1, word.size() - bracket - 2);
  while (true) {
    const std::size_t comma = rest.find(',');
    box.ranges.push_back(read_range(rest.substr(0, comma), word));
    if (comma == std::string_view::npos) return box;
    rest.remove_prefix(comma + 1);
  }
}

// An integer after a word: "query -1".
std::string take_number(std::string_view& text, std::string_view word) {
  skip_blanks(text);
  std::size_t size = !text.empty() && text.front() == '-' ? 1 : 0;
  while (size < text.size() && text[size] >= '0' && text[size] <= '9') ++size;
  const std::string_view number = text.substr(0, size);
  if (number.empty() || number == "-" || number.size() > 9)
    refuse_live_text(fmt::format("{}{}", word, text.substr(0, 20)), fmt::format("{} needs a number", word),
                     fmt::format("{} 8", word));
  text.remove_prefix(size);
  return std::string(number);
}

}  // namespace

void refuse_live_text(std::string_view got, const std::string& what, const std::string& expected) {
  throw Error(
      ExitStatus::usage,
      {.where = "a number in a text", .what = what, .got = fmt::format("{{{}}}", got), .expected = expected});
}

LiveQuantity read_live_quantity(std::string_view& text) {
  const std::string_view word = take_word(text);
  LiveQuantity quantity{std::string(word), {}, {}};
  const auto is = [&](std::string_view other) { return word == other; };
  if (is_one_of(word, alone)) return quantity;
  const bool has_argument = text.starts_with(' ');
  if (is("spread") || is("turn") || is("stretch") || is("frozen") || is("role") ||
      (is("query") && has_argument)) {
    quantity.argument = take_number(text, word);
  } else if (is("key") && has_argument) {
    std::string_view rest = text;
    skip_blanks(rest);
    if (rest.starts_with("argmax ")) {
      rest.remove_prefix(7);
      quantity.boxes = {read_box(take_word(rest))};
      text = rest;
    } else {
      quantity.argument = take_number(text, word);
    }
  } else if (is("habit")) {
    const std::string_view habit = take_word(text);
    const std::optional<HeadScore> score = head_score_named(habit);
    if (!score)
      refuse_live_text(
          habit, "there is no such habit of heads",
          "previous_token, next_token, itself, same_word, first_token, induction, punctuation or entropy");
    quantity.argument = fmt::format("{} {}", habit, take_number(text, word));
  } else if (is("trained") && has_argument) {
    const std::string_view what = take_word(text);
    if (!is_one_of(what, of_a_training))
      refuse_live_text(what, "there is no such number of a training", "step, loss or accuracy");
    quantity.argument = what;
  } else if (is_one_of(word, of_a_box) || is("shape")) {
    quantity.boxes = {read_box(take_word(text))};
  } else if (is("difference")) {
    quantity.boxes = {read_box(take_word(text))};
    if (!text.starts_with(' ')) refuse_live_text(word, "a difference needs two tensors", "difference A B");
    quantity.boxes.push_back(read_box(take_word(text)));
  } else if (is("wide") || is("layouts")) {
    const std::string_view what = take_word(text);
    if (is("wide") && what != "output" && what != "scores" && !find_tensor_name(what))
      refuse_live_text(what, "the one wide head has no such number",
                       "output, scores or a gradient, such as grad.query");
    if (is("layouts") && what != "output")
      refuse_live_text(what, "the layouts have no such number", "layouts output");
    quantity.argument = what;
  } else if (is_setting_path(word)) {
    quantity.word = "setting";
    quantity.argument = word;
  } else {
    quantity.word = "cell";
    if (has_argument && !find_tensor_name(word.substr(0, word.find('['))))
      refuse_live_text(word, "no such number",
                       "a cell, sum, mean, max, min, deviation, argmax, finite, distinct, difference, shape, "
                       "spread, turn, stretch, frozen, role, query, key, habit, trained, layouts or wide");
    quantity.boxes = {read_box(word)};
  }
  return quantity;
}

}  // namespace headwise
