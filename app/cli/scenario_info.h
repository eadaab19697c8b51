// What `headwise info` prints about a scenario: its sizes, parameters, products and memory, and computed answers to
// questions that learners argue about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/trace_request.h"
#include "core/answers/head_width_comparison.h"
#include "core/answers/layout_comparison.h"
#include "core/answers/lookup_comparison.h"
#include "core/answers/operation_counts.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

// A size with its letter.
struct LetterSize {
  const char* letter;  // "N", "S′"
  const char* what;    // "batch"
  Index size;
};

struct ScenarioInfo {
  std::string name;                // as requested
  std::vector<std::string> notes;  // what the user should know: the warnings, including the trace's
  Op op{};
  DType dtype{};
  std::vector<LetterSize> sizes;
  std::vector<ParameterCount> parameters;
  OperationCounts counts;
  Index input_bytes = 0;  // inputs, parameters and masks
  Index trace_bytes = 0;  // everything the forward pass allocates beyond them
  Index free_bytes = 0;   // available beyond the inputs

  // Why the tensors and the answers below are missing: too large. Empty: they are present.
  std::string not_computed;
  TracePtr trace;
  std::optional<LayoutComparison> layouts;
  std::optional<HeadWidthComparison> head_width;
  std::optional<LookupComparison> lookup;  // of batch 0, head 0 and the last query; none if there is no query
  // Σ |part| of each head over all cells of the output, and last of the bias; empty without an output projection.
  std::vector<double> output_shares;  // fractions that add up to 1, or all 0
};

// Computes it; prints the warnings. Throws as compute_trace does, but a trace that does not fit is reported in
// `not_computed`.
ScenarioInfo scenario_info(const TraceRequest& request);

std::string scenario_info_text(const ScenarioInfo& info);
std::string scenario_info_json(const ScenarioInfo& info);

}  // namespace headwise
