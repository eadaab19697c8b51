#include "core/reference/prepared_inputs.h"

namespace headwise {
namespace {

TensorPtr head_gain_tensor(const AttentionInputs& inputs, const Trace* previous) {
  if (inputs.tensors.head_gain || inputs.options.head_gain.empty()) return inputs.tensors.head_gain;
  const std::vector<double>& gains = inputs.options.head_gain;
  auto made = std::make_shared<const Tensor>(
      Tensor(Shape{{"H", static_cast<Index>(gains.size())}}, gains).converted(inputs.dtype));
  const TensorPtr earlier = previous ? previous->tensors.head_gain : nullptr;
  return earlier && identical(*earlier, *made) ? earlier : made;
}

}  // namespace

void prepare_inputs(TraceTensors& t, const AttentionInputs& inputs, const Trace* previous) {
  if (inputs.options.op == Op::multi_head_attention) {
    t.head_gain = head_gain_tensor(inputs, previous);
    return;
  }
  t.q_heads = std::move(t.query);
  t.k_heads = std::move(t.key);
  t.v_heads = std::move(t.value);
  t.query = t.key = t.value = nullptr;
}

}  // namespace headwise
