// The work that a frame does, by name, so that a test can verify that what is not shown costs nothing. Outside tests a call
// costs one comparison.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace headwise {

// Name of the work → how often it was done: "inspector" for the panel, "head statistics" for what is computed for one.
using WorkProbes = std::map<std::string, int, std::less<>>;

// Where work_probe() counts; null: nowhere.
void set_work_probes(WorkProbes* probes);

void work_probe(std::string_view work);

}  // namespace headwise
