// Applies an edit made on top of one scenario to another.
#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// `onto` with every key that differs between `from` and `edited`; head gains are adapted to its number of heads.
Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited);

// "num_heads is 8 again. ": how `now` differs from what was `refused`; a sentence to put in front of another.
std::string put_back_sentence(const Scenario& refused, const Scenario& now);

}  // namespace headwise
