// JSON → the value of one key of a scenario, restricted to its allowed values. `place` is the key as error messages name it:
// "file.json: attention.num_heads". All throw Error(usage): what was got, what was expected. Private to core/scenario.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/scenario/json_document.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"

namespace headwise {

bool read_boolean(const Json& value, const std::string& place);
std::string read_string(const Json& value, const std::string& place);

// 8.0 is 8, as long as a double represents it exactly: up to 2^53.
std::int64_t read_integer(const Json& value, const std::string& place, const IntegerRange& range);
// All 64 bits: 0 to 18446744073709551615.
std::uint64_t read_seed(const Json& value, const std::string& place);
double read_number(const Json& value, const std::string& place, const NumberRange& range);

// One of ChoiceNames<Enum>; any other name is reported with the nearest of them.
template <class Enum>
Enum read_choice(const Json& value, const std::string& place) {
  constexpr auto& names = ChoiceNames<Enum>::names;
  const std::string expected = fmt::format("one of {}", join(names, ", "));
  if (!value.is_string()) wrong_value(place, "wrong type", describe(value), expected);
  const auto found = std::ranges::find(names, value.get_ref<const std::string&>());
  if (found == names.end()) {
    wrong_value(place, "unknown choice", describe(value), expected,
                did_you_mean(value.get_ref<const std::string&>(), {names.begin(), names.end()}));
  }
  return static_cast<Enum>(found - names.begin());
}

// {"heads": [4, 1], "attn_weights": …}: the weights are lists (N,F,L,S), the name of a file, or null.
FrozenHeads read_frozen_heads(const Json& value, const std::string& place);
// {"tensor": "q", "index": [0, 3, 8], "value": 0.5}: the value may be "-inf", "inf" or "nan" too.
CellEdit read_edit(const Json& value, const std::string& place);

}  // namespace headwise
