// What a frame works at, by name, so that a test can tell that what is not shown costs nothing. Nobody listens outside of
// tests, and then a call costs one comparison.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace headwise {

// Name of the work → how often it was done: "inspector" of the panel, "head statistics" of what is computed for one.
using WorkProbes = std::map<std::string, int, std::less<>>;

// Where work_probe() counts; null: nowhere.
void set_work_probes(WorkProbes* probes);

void work_probe(std::string_view work);

}  // namespace headwise
