// What one run of the operator costs: its matrix products with their einsum and their multiply-adds, and its
// parameters. Computed from the sizes alone; the tests count them in loops.
#pragma once

#include <string>
#include <vector>

#include "core/attention/steps.h"
#include "core/attention/trace.h"

namespace headwise {

// A matrix product of the forward pass. One multiply-add is one a·b added to a sum;
// adding a bias does not count.
struct ProductCount {
  TensorId result{};    // q, k, v, scores, head_output or output
  Step step{};          // of the steps shown in the window
  std::string einsum;   // "nle,fe->nlf"
  std::string letters;  // "N·L·E·H·D"
  Index multiply_adds = 0;
};

struct OperationCounts {
  std::vector<ProductCount> products;  // in the order of computation; k and v only if they are projected
  Index multiply_adds = 0;             // of all of them
  Index exponentials = 0;              // of the softmax: N·H·L·S′
};

// Throws Error(memory) if a number exceeds 63 bits. The inputs must be valid (check_attention_inputs).
OperationCounts operation_counts(const AttentionInputs& inputs);

struct ParameterCount {
  TensorId tensor{};
  std::string letters;  // "(H·D+G·D+G·Dv,E)"
  std::vector<Index> sizes;
  Index numbers = 0;
};

// The learnable arrays, in the order of tensor_entries(). static_k and static_v are inputs that replace
// projected ones, and head gains are a control of this program: neither is counted.
std::vector<ParameterCount> parameter_counts(const AttentionInputs& inputs);
Index total_parameters(const std::vector<ParameterCount>& counts);

// "1,048,576"
std::string count_text(Index count);

}  // namespace headwise
