#include "core/playlist/page_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr double largest_index = 9007199254740992.0;  // 2^53: beyond it, numbers are not exact
constexpr std::size_t most_index_entries = 8;

}  // namespace

void check_keys(const Json& object, const std::string& where, const Names& known) {
  for (const auto& [key, unused] : object.items()) {
    if (std::ranges::find(known, key) == known.end())
      wrong_value(where, fmt::format("unknown key \"{}\"", key), "", "", did_you_mean(key, known));
  }
}

std::string text_of(const Json& value, const std::string& where) {
  if (!value.is_string()) wrong_value(where, "wrong type", describe(value), "a string");
  return value.get<std::string>();
}

Index index_of(const Json& value, const std::string& where) {
  const char* expected = "a whole number of at least 0";
  if (!value.is_number()) wrong_value(where, "wrong type", describe(value), expected);
  const double number = value.get<double>();
  if (number != std::floor(number) || number < 0 || number > largest_index)
    wrong_value(where, "out of range", describe(value), expected);
  return static_cast<Index>(number);
}

// Returns the index of a word in a list.
std::size_t choice_of(const Json& value, const std::string& where, const Names& words) {
  const std::string expected = fmt::format("one of {}", join(words, ", "));
  if (!value.is_string()) wrong_value(where, "wrong type", describe(value), expected);
  const std::string& got = value.get_ref<const std::string&>();
  const auto found = std::ranges::find(words, got);
  if (found == words.end())
    wrong_value(where, "unknown choice", describe(value), expected, did_you_mean(got, words));
  return static_cast<std::size_t>(found - words.begin());
}

TensorName tensor_of(const Json& value, const std::string& where) {
  const std::string text = text_of(value, where);
  const std::optional<TensorName> name = find_tensor_name(text);
  if (!name) {
    wrong_value(where, "there is no tensor of this name", describe(value), "",
                suggestion(nearest_tensor_name(text)));
  }
  return *name;
}

CellRef cell_of(const Json& value, const std::string& where) {
  const Names keys{"tensor", "index"};
  if (!value.is_object())
    wrong_value(where, "wrong type", describe(value), "an object with tensor and index");
  check_keys(value, where, keys);
  for (const std::string& key : keys) {
    if (!value.contains(key))
      wrong_value(where, fmt::format("the key \"{}\" is missing", key), "", "tensor and index");
  }
  CellRef cell{tensor_of(value["tensor"], where + ".tensor"), {}};
  const Json& index = value["index"];
  if (!index.is_array() || index.empty() || index.size() > most_index_entries)
    wrong_value(where + ".index", "wrong type", describe(index), "a list of integers, one for each axis");
  for (const Json& entry : index) cell.index.push_back(index_of(entry, where + ".index"));
  return cell;
}

}  // namespace headwise
