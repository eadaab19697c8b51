// An edit that was made on top of one scenario, made on another one instead.
#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// `onto` with every key that `edited` has changed in `from`; gains of heads fit its number of heads.
Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited);

// "num_heads is 8 again. ": how `now` differs from what was `refused`; a sentence for the front of another.
std::string put_back_sentence(const Scenario& refused, const Scenario& now);

}  // namespace headwise
