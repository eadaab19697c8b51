// The reference values of tests/golden/attention_golden.json.gz (the script that made them is beside it).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace headwise::test {

struct GoldenCase {
  std::string name;
  std::string by;                          // which function of PyTorch computed it
  AttentionInputs inputs;                  // f64
  TensorPtr grad_output;                   // null: all ones
  std::map<std::string, Tensor> expected;  // by the names of the trace, gradients too, f64
};

// All cases, read once.
const std::vector<GoldenCase>& golden_cases();
// The case of that name; fails the test where there is none.
const GoldenCase& golden_case(const std::string& name);

// The same inputs in another type; what was one array stays one array.
AttentionInputs converted(const AttentionInputs& inputs, DType dtype);

}  // namespace headwise::test
