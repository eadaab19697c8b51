// Describes every key of a scenario: for `headwise list settings`, and for anyone writing a scenario by hand.
// Types, ranges and defaults come from core/scenario/scenario_schema.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/files/word_rows.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct ScenarioKey {
  std::string path;           // "attention.num_heads"
  std::string type;           // "integer", "number or null"
  std::string range;          // "an integer of at least 1", "random, ones, uniform01, text, file"
  std::string default_value;  // as JSON: "8", "null", "\"random\""
  std::string what;           // one line; empty if the key has no description
};

// In the order of the format.
std::vector<ScenarioKey> scenario_keys();

// What each key is for: assets/words/scenario_keys.txt. A key of the schema that is not there fails a test.
std::span<const WordRow> key_descriptions();

// Which keys differ between two scenarios, found through the schema: no key can be forgotten.

// The paths of the keys with different values, "attention.num_heads", in the order of the format.
// NaN equals NaN in edits.
std::vector<std::string> differing_keys(const Scenario& a, const Scenario& b);

// Copies the values of these keys; the rest of `to` stays.
void copy_keys(const std::vector<std::string>& paths, const Scenario& from, Scenario& to);

// The value of a key in a sentence: "8", "random", "automatic" for null; empty for a list or an object, which
// are too long. Throws Error(usage) if a text is not UTF-8.
std::string key_value_text(const Scenario& scenario, const std::string& path);

}  // namespace headwise
