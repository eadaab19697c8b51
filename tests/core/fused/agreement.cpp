#include "tests/core/fused/agreement.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/trace/attention_sizes.h"
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

AttentionInputs sized_inputs(Index batch, Index queries, Index keys, Index heads, Index kv_heads,
                             Index head_dim, Index v_head_dim) {
  AttentionOptions options = small_options(heads, kv_heads, head_dim);
  options.v_head_dim = v_head_dim;
  return as_f32(random_inputs(options, {batch, queries, keys}));
}

std::vector<FollowingInputs> following_inputs(const AttentionInputs& first) {
  std::vector<FollowingInputs> all;
  const auto add = [&](const char* name, auto&& change, bool keeps = true) {
    FollowingInputs next{name, first, keeps};
    change(next.inputs);
    all.push_back(std::move(next));
  };
  const AttentionSizes s = attention_sizes(first);
  add("the same", [](AttentionInputs&) {});
  add("causal", [](AttentionInputs& inputs) { inputs.options.is_causal = true; });
  add("window", [](AttentionInputs& inputs) { inputs.options.sliding_window = 9; });
  add("scale", [](AttentionInputs& inputs) { inputs.options.scale = 0.7; });
  add("softcap", [](AttentionInputs& inputs) { inputs.options.softcap = 1.5; });
  add("gains", [&](AttentionInputs& inputs) {
    inputs.options.head_gain.assign(static_cast<std::size_t>(s.heads), 0.5);
    inputs.options.head_gain.front() = -2.0;
  });
  add("attn_mask", [&](AttentionInputs& inputs) {
    Tensor mask(Shape{{"L", s.queries}, {"S", s.keys}}, DType::boolean);
    for (Index i = 0; i < mask.size(); ++i) mask.set_flat(i, i % 5 == 2 ? 1.0 : 0.0);
    inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
  });
  add("frozen head", [&](AttentionInputs& inputs) {
    inputs.options.frozen_heads = {1};
    Tensor held(Shape{{"N", s.batch}, {"F", 1}, {"L", s.queries}, {"S", s.all_keys}}, DType::f32);
    for (Index i = 0; i < held.size(); ++i) held.set_flat(i, 0.02 * static_cast<double>(i % 13));
    inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
  });
  add("the first again", [](AttentionInputs&) {});
  add(
      "an equal array that is another one",
      [](AttentionInputs& inputs) {
        inputs.tensors.query = std::make_shared<const Tensor>(Tensor(*inputs.tensors.query));
      },
      false);
  add(
      "another input",
      [](AttentionInputs& inputs) {
        Tensor value = *inputs.tensors.value;
        value.set_flat(3, 5.0);
        inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
      },
      false);
  return all;
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
