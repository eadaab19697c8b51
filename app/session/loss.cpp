#include "app/session/loss.h"

#include <fmt/format.h>

#include "core/tensor/random.h"
#include "core/trace/grad_output.h"

namespace headwise {

Loss resolved_loss(std::optional<Loss> asked, const Trace& trace, const TensorPtr& given) {
  if (asked && (*asked != Loss::given || given)) return *asked;
  if (given) return Loss::given;
  return trace.tensors.layer_norm_output ? Loss::random : Loss::sum;
}

TensorPtr loss_gradient(Loss loss, const Trace& trace, const TensorPtr& given) {
  if (loss == Loss::given) return given;
  Tensor weights(trace.tensor(last_output(trace.tensors))->shape(), trace.dtype);
  const CounterRandom signs(0, "loss");
  for (Index i = 0; i < weights.size(); ++i) {
    double weight = 1.0;
    if (loss == Loss::first_cell) weight = i == 0 ? 1.0 : 0.0;
    if (loss == Loss::random) weight = signs.uniform(static_cast<std::uint64_t>(i)) < 0.5 ? -1.0 : 1.0;
    weights.set_flat(i, weight);
  }
  return std::make_shared<const Tensor>(std::move(weights));
}

std::string loss_text(Loss loss, const Trace& trace) {
  const TensorId last = last_output(trace.tensors);
  const std::string name(tensor_entry(last).name);
  switch (loss) {
    case Loss::sum:
      return fmt::format("loss = Σ {}{}", name,
                         last == TensorId::layer_norm_output ? ", 0 except for rounding" : "");
    case Loss::first_cell:
      return fmt::format("loss = {}[{}]", name, trace.tensor(last)->shape().rank() == 4 ? "0,0,0,0" : "0,0,0");
    case Loss::random:
      return fmt::format("loss = Σ ± {}, with fixed random signs", name);
    case Loss::given:
      return fmt::format("loss = Σ grad_output · {}", name);
  }
  return "";
}

}  // namespace headwise
