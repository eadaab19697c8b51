// What `headwise info` says of a scenario: its sizes, parameters, products and memory, and the answers to the questions
// that learners argue about, computed.
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
  std::string name;                // as it was asked for
  std::vector<std::string> notes;  // what a person should know: the warnings, of the trace too
  Op op{};
  DType dtype{};
  std::vector<LetterSize> sizes;
  std::vector<ParameterCount> parameters;
  OperationCounts counts;
  Index input_bytes = 0;  // inputs, parameters and masks
  Index trace_bytes = 0;  // all that the forward pass makes beyond them
  Index free_bytes = 0;   // that there are beside the inputs

  // Why the tensors and the answers below are not there: too large. Empty: they are.
  std::string not_computed;
  TracePtr trace;
  std::optional<LayoutComparison> layouts;
  std::optional<HeadWidthComparison> head_width;
  std::optional<LookupComparison> lookup;  // of batch 0, head 0 and the last query; none where there is no query
  // Σ |part| of each head in all cells of the output, and at the end of the bias; empty without an output projection.
  std::vector<double> output_shares;  // fractions that add up to 1, or all 0
};

// Computes it; prints the warnings. Throws as compute_trace does, but a trace that does not fit is told in
// `not_computed`.
ScenarioInfo scenario_info(const TraceRequest& request);

std::string scenario_info_text(const ScenarioInfo& info);
std::string scenario_info_json(const ScenarioInfo& info);

}  // namespace headwise
