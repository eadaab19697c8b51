#include "tests/core/fused/agreement.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/trace/tensor_names.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/trace/option_combinations.h"

namespace headwise::test {
namespace {

void check_tensor(const TensorPtr& got, const TensorPtr& expected, const std::string& name, double bound) {
  CAPTURE(name);
  REQUIRE(got);
  REQUIRE(expected);
  REQUIRE(got->shape() == expected->shape());
  double difference = 0.0, magnitude = 0.0, worst = -1.0;
  Index worst_cell = 0, unlike = -1;
  for (Index i = 0; i < got->size(); ++i) {
    const double a = got->flat(i), b = expected->flat(i);
    if (!std::isfinite(b) || !std::isfinite(a)) {
      if (!(std::isnan(a) && std::isnan(b)) && a != b) unlike = i;
      continue;
    }
    difference += (a - b) * (a - b);
    magnitude += b * b;
    if (std::abs(a - b) > worst) worst = std::abs(a - b), worst_cell = i;
  }
  CHECK_MESSAGE(unlike < 0, fmt::format("cell {}: {} for {}", unlike, unlike < 0 ? 0 : got->flat(unlike),
                                        unlike < 0 ? 0 : expected->flat(unlike)));
  CHECK_MESSAGE(difference <= bound * magnitude + 1e-24,
                fmt::format("worst cell {}: off by {}", worst_cell, worst));
}

}  // namespace

AttentionInputs as_f32(AttentionInputs inputs) {
  inputs.dtype = DType::f32;
  std::map<const Tensor*, TensorPtr> made;  // one array stays one array
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = inputs.tensors.*(entry.member);
    if (!tensor || tensor->dtype() != DType::f64 || entry.role == TensorRole::mask) continue;
    TensorPtr& converted = made[tensor.get()];
    if (!converted) converted = std::make_shared<const Tensor>(tensor->converted(DType::f32));
    tensor = converted;
  }
  return inputs;
}

void let_heads_go(AttentionInputs& inputs) {
  inputs.options.frozen_heads.clear();
  inputs.tensors.frozen_weights = nullptr;
}

AttentionInputs sized_inputs(Index batch, Index queries, Index keys, Index heads, Index kv_heads,
                             Index head_dim, Index v_head_dim) {
  AttentionOptions options = small_options(heads, kv_heads, head_dim);
  options.v_head_dim = v_head_dim;
  return as_f32(random_inputs(options, {batch, queries, keys}));
}

void check_agrees(const Trace& got, const Trace& expected, double bound) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = got.tensor(entry.id);
    if (entry.role == TensorRole::intermediate && tensor)
      check_tensor(tensor, expected.tensor(entry.id), std::string(entry.name), bound);
  }
  CHECK(got.tensors.output);
}

}  // namespace headwise::test
