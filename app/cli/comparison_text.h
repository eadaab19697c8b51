// The output of `headwise compare`: one line per tensor, then the first that differs and what its worst cell is made of.
#pragma once

#include <string>
#include <vector>

#include "core/compare/array_compare.h"
#include "core/compare/likely_causes.h"

namespace headwise {

struct ComparisonReport {
  const Trace& trace;
  const ArrayComparison& comparison;
  const Findings& findings;      // why the first differs, and what follows from it
  bool causes_searched = true;   // false: the sizes are too large to look for all of them
  std::string scenario, theirs;  // as named by the user
};

std::string report_text(const ComparisonReport& report);
std::string report_json(const ComparisonReport& report);

// For stderr, if something differs: "scores[0,1,2,3]: ours 1.5, theirs 1.25".
std::string verdict_line(const ComparedArray& array);

}  // namespace headwise
