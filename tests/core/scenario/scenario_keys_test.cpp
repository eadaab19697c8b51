#include "core/scenario/scenario_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"

using namespace headwise;

namespace {

void change(bool& value) {
  value = !value;
}
void change(std::string& value) {
  value += "x";
}
void change(std::vector<double>& value) {
  value.push_back(1.0);
}
void change(std::vector<std::vector<std::int64_t>>& value) {
  value.push_back({1});
}
void change(RotaryScaling& value) {
  value.factor = 4.0;
}
void change(RelativeBias& value) {
  value.buckets += 2;
}
void change(Indexer& value) {
  value.k += 1;
}
void change(FrozenHeads& value) {
  value.heads.push_back(0);
}
void change(std::vector<CellEdit>& value) {
  value.push_back({"query", {0, 0, 0}, 1.0});
}
template <class Number>
requires std::is_arithmetic_v<Number>
void change(Number& value) {
  value += 1;
}
template <class Enum>
requires std::is_enum_v<Enum>
void change(Enum& value) {
  value = value == Enum{} ? static_cast<Enum>(1) : Enum{};
}
template <class T>
void change(std::optional<T>& value) {
  T changed = value.value_or(T{});
  change(changed);
  value = changed;
}

}  // namespace

TEST_CASE("every key of a scenario is described in one line, and nothing else is") {
  std::set<std::string> paths;
  for (const ScenarioKey& key : scenario_keys()) {
    CAPTURE(key.path);
    CHECK_FALSE(key.what.empty());
    CHECK(key.what.size() <= 100);
    CHECK(key.what.find('\n') == std::string::npos);
    CHECK_FALSE(key.type.empty());
    CHECK_FALSE(key.range.empty());
    CHECK(paths.insert(key.path).second);
  }
  CHECK(paths.size() >= 50);
  for (const WordRow& row : key_descriptions()) {
    CAPTURE(row.key);
    CHECK(paths.erase(std::string(row.key)) == 1);
  }
  CHECK(paths.empty());
}

TEST_CASE("the default of a key is what --set takes, and changes nothing") {
  const Scenario defaults;
  for (const ScenarioKey& key : scenario_keys()) {
    CAPTURE(key.path);
    CHECK(with_setting(defaults, key.path + "=" + key.default_value) == defaults);
  }
}

TEST_CASE("a change of any key of the format is found and copied, and no other key with it") {
  std::vector<std::string> paths;
  const Scenario defaults;
  for_each_key(defaults, [&](const char* section, const char* key, const auto&) {
    paths.push_back(key_path(section, key));
  });
  CHECK(paths.size() > 45);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    CAPTURE(paths[i]);
    Scenario changed;
    std::size_t at = 0;
    for_each_key(changed, [&](const char*, const char*, auto& member) {
      if (at++ == i) change(member);
    });
    CHECK(changed != defaults);
    CHECK(differing_keys(defaults, changed) == std::vector<std::string>{paths[i]});
    Scenario copy;
    copy_keys({paths[i]}, changed, copy);
    CHECK(copy == changed);
    copy_keys({paths[i]}, defaults, changed);
    CHECK(changed == defaults);
  }
}

TEST_CASE("keys that differ are listed in the order of the format, and NaN differs from no NaN") {
  Scenario a, b;
  a.edits = b.edits = {{"query", {0, 0, 0}, std::nan("")}};
  CHECK(differing_keys(a, b).empty());
  b.mask.value = 0.0;
  b.attention.scale = 2.0;
  CHECK(differing_keys(a, b) == std::vector<std::string>{"attention.scale", "mask.value"});
}

TEST_CASE("the value of a key is named as a sentence needs it") {
  Scenario scenario;
  CHECK(key_value_text(scenario, "attention.num_heads") == "8");
  CHECK(key_value_text(scenario, "attention.scale") == "automatic");
  CHECK(key_value_text(scenario, "attention.temperature") == "1.0");
  CHECK(key_value_text(scenario, "op") == "multi_head_attention");
  CHECK(key_value_text(scenario, "mask.value") == "-inf");
  CHECK(key_value_text(scenario, "edits").empty());
  scenario.inputs.text = "\xff";  // another key that JSON cannot hold
  CHECK(key_value_text(scenario, "attention.bias") == "true");
}
