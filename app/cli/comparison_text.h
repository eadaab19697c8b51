// The output of `headwise compare`: one line per tensor,
// then the first that differs and what its worst cell is made of.
#pragma once

#include <string>
#include <vector>

#include "app/cli/report.h"
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

Report comparison_report(const ComparisonReport& comparison);

// The reports of a model's layers: in text a line for each, then the whole report of the first that differs.
struct LayerReports {
  std::string scenario, theirs;
  std::string lines = {};
  Json layers = Json::array(), first_layer = nullptr;  // the first that differs
  std::vector<SkippedArray> skipped = {};
  std::string first_differing = {};

  void add(Index layer, const ComparisonReport& comparison);
  Report report() const;
};

// For stderr, if something differs: "scores[0,1,2,3]: ours 1.5, theirs 1.25".
std::string verdict_line(const ComparedArray& array);

}  // namespace headwise
