// Describes every key of a scenario: for `headwise list settings`, and for anyone writing a scenario by hand.
// Types, ranges and defaults come from core/scenario/scenario_schema.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/files/word_rows.h"

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

}  // namespace headwise
