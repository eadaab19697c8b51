// Which keys differ between two scenarios, found through the schema: no key can be forgotten.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// The paths of the keys with different values, "attention.num_heads", in the order of the format.
// NaN equals NaN in edits.
std::vector<std::string> differing_keys(const Scenario& a, const Scenario& b);

// Copies the values of these keys; the rest of `to` stays.
void copy_keys(const std::vector<std::string>& paths, const Scenario& from, Scenario& to);

// The value of a key in a sentence: "8", "random", "automatic" for null; empty for a list or an object, which
// are too long. Throws Error(usage) if a text is not UTF-8.
std::string key_value_text(const Scenario& scenario, const std::string& path);

}  // namespace headwise
