#include "core/scenario/scenario_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/scenario/scenario_json.h"

using namespace headwise;

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
