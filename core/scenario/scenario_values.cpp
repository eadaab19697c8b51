#include "core/scenario/scenario_values.h"
#include "core/tensor/edit_distance.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headwise {
namespace {

constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53: above this, 8.0 need not mean 8
constexpr std::size_t most_index_entries = 8;

// An object with no other keys than these.
void check_object(const Json& value, const std::string& place, const std::vector<std::string>& keys,
                  const std::string& words) {
  if (!value.is_object()) wrong_value(place, "wrong type", describe(value), "an object with " + words);
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    wrong_value(place, fmt::format("unknown key \"{}\"", key), "", join(keys, ", "), did_you_mean(key, keys));
  }
}

// JSON has no numbers for these; a painted mask and a lesson about NaN need them.
double read_number_or_word(const Json& value, const std::string& place) {
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return read_number(value, place, {.words = "a number, \"-inf\", \"inf\" or \"nan\""});
}

// Nested lists, four levels deep, each level of equal lengths: (N,F,L,S′).
void read_nested_numbers(const Json& value, const std::string& place, std::size_t level,
                         std::vector<std::optional<Index>>& sizes, std::vector<double>& numbers) {
  if (level == sizes.size()) {
    numbers.push_back(read_number_or_word(value, place));
    return;
  }
  const std::string expected = "(N,F,L,S): lists of numbers, in lists, in lists, in a list";
  if (!value.is_array()) wrong_value(place, "wrong type", describe(value), expected);
  const auto size = static_cast<Index>(value.size());
  if (sizes[level] && *sizes[level] != size) {
    wrong_value(place, "lists of different lengths", fmt::format("{} and {}", *sizes[level], size), expected);
  }
  sizes[level] = size;
  for (const Json& entry : value) read_nested_numbers(entry, place, level + 1, sizes, numbers);
}

}  // namespace

bool read_boolean(const Json& value, const std::string& place) {
  if (!value.is_boolean()) wrong_value(place, "wrong type", describe(value), "true or false");
  return value.get<bool>();
}

std::string read_string(const Json& value, const std::string& place) {
  if (!value.is_string()) wrong_value(place, "wrong type", describe(value), "a string");
  return value.get<std::string>();
}

std::int64_t read_integer(const Json& value, const std::string& place, const IntegerRange& range) {
  if (!value.is_number()) wrong_value(place, "wrong type", describe(value), range.text());
  std::int64_t integer = 0;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number != std::floor(number)) wrong_value(place, "not a whole number", describe(value), range.text());
    if (std::abs(number) > largest_exact_integer) {
      wrong_value(place, "out of range", describe(value), range.text() + " and at most 9223372036854775807");
    }
    integer = static_cast<std::int64_t>(number);
  } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    wrong_value(place, "out of range", describe(value), range.text() + " and at most 9223372036854775807");
  } else {
    integer = value.get<std::int64_t>();
  }
  if (!range.contains(integer)) wrong_value(place, "out of range", describe(value), range.text());
  return integer;
}

std::uint64_t read_seed(const Json& value, const std::string& place) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  const std::string expected = "an integer from 0 to 18446744073709551615";
  if (!value.is_number()) wrong_value(place, "wrong type", describe(value), expected);
  const double number = value.get<double>();
  if (number != std::floor(number)) wrong_value(place, "not a whole number", describe(value), expected);
  if (number < 0 || number > largest_exact_integer)
    wrong_value(place, "out of range", describe(value), expected);
  return static_cast<std::uint64_t>(number);
}

double read_number(const Json& value, const std::string& place, const NumberRange& range) {
  if (!value.is_number()) wrong_value(place, "wrong type", describe(value), range.text());
  const double number = value.get<double>();
  if (!range.contains(number)) wrong_value(place, "out of range", describe(value), range.text());
  return number;
}

FrozenHeads read_frozen_heads(const Json& value, const std::string& place) {
  check_object(value, place, {"heads", "attn_weights"}, "heads and attn_weights");
  if (!value.contains("heads"))
    wrong_value(place, "the key \"heads\" is missing", describe(value), "heads and attn_weights");
  FrozenHeads frozen;
  const Json& heads = value["heads"];
  if (!heads.is_array() || heads.empty()) {
    wrong_value(place + ".heads", heads.is_array() ? "no head is named" : "wrong type", describe(heads),
                "a list of heads, as in [4, 1]", "use null for heads.frozen if no head is frozen");
  }
  std::set<std::int64_t> different;
  for (const Json& entry : heads) {
    const std::int64_t head = read_integer(entry, place + ".heads", IntegerRange{0});
    if (!different.insert(head).second)
      wrong_value(place + ".heads", "a head is named twice", fmt::format("{}", head), "each head once");
    frozen.heads.push_back(head);
  }
  const auto weights = value.find("attn_weights");
  if (weights == value.end() || weights->is_null()) return frozen;
  if (weights->is_string()) {
    frozen.file = weights->get<std::string>();
    return frozen;
  }
  std::vector<std::optional<Index>> sizes(4);
  std::vector<double> numbers;
  read_nested_numbers(*weights, place + ".attn_weights", 0, sizes, numbers);
  if (sizes[1] && *sizes[1] != static_cast<Index>(frozen.heads.size())) {
    wrong_value(place + ".attn_weights", "there must be one map for each frozen head",
                fmt::format("{} maps for {} heads", *sizes[1], frozen.heads.size()),
                fmt::format("(N,F,L,S) with F = {}", frozen.heads.size()));
  }
  frozen.attn_weights = std::make_shared<const Tensor>(Shape{{"N", sizes[0].value_or(0)},
                                                             {"F", sizes[1].value_or(0)},
                                                             {"L", sizes[2].value_or(0)},
                                                             {"S", sizes[3].value_or(0)}},
                                                       std::move(numbers));
  return frozen;
}

CellEdit read_edit(const Json& value, const std::string& place) {
  check_object(value, place, {"tensor", "index", "value"}, "tensor, index and value");
  for (const char* key : {"tensor", "index", "value"}) {
    if (!value.contains(key))
      wrong_value(place, fmt::format("the key \"{}\" is missing", key), describe(value),
                  "tensor, index and value");
  }
  CellEdit edit;
  edit.tensor = read_string(value["tensor"], place + ".tensor");
  const Json& index = value["index"];
  if (!index.is_array() || index.size() > most_index_entries) {
    wrong_value(place + ".index", "wrong type", describe(index), "a list of at most 8 integers, one per axis");
  }
  for (const Json& entry : index)
    edit.index.push_back(read_integer(entry, place + ".index", IntegerRange{0}));
  edit.value = read_number_or_word(value["value"], place + ".value");
  return edit;
}

}  // namespace headwise
