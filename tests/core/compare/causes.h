// The likely causes of another program's arrays, as text for tests.
#pragma once

#include <string>
#include <vector>

#include "core/attention/reference_backend.h"
#include "core/compare/likely_causes.h"
#include "tests/checks.h"

namespace headwise::test {

inline std::string texts(const std::vector<LikelyCause>& causes) {
  std::string all;
  for (const LikelyCause& cause : causes) all += cause.text + "\n";
  return all;
}

// Another program computed `changed`; its output, weights and scores are held against ours.
inline std::string causes_when(const AttentionInputs& inputs, const AttentionInputs& changed,
                               const std::vector<TensorId>& written = {TensorId::output}) {
  const TracePtr ours = reference_forward(inputs);
  const TracePtr other = reference_forward(changed);
  std::vector<StoredTensor> theirs;
  for (const TensorId id : written) theirs.push_back({to_string(TensorName{id}), other->tensor(id), "f64"});
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  REQUIRE(comparison.first_difference() != nullptr);
  return texts(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, comparison));
}

}  // namespace headwise::test
