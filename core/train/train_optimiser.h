// How the gradient of a step changes the parameters: SGD, momentum, Adam and AdamW as in torch.optim, with
// warm-up, a cosine schedule and clipping by the global norm. The results have the same bits for any
// number of threads, and in f64, of the same gradients, on every machine.
//
// With g the gradient (clipped), w a parameter,
// lr the learning rate of the step and t the number of steps including this one:
//   sgd        g += weight_decay·w;  w −= lr·g                                            torch.optim.SGD
//   momentum   g += weight_decay·w;  m = momentum·m + g;  w −= lr·m
//                                    torch.optim.SGD(momentum=…)
//   adam       g += weight_decay·w;  then as below                                        torch.optim.Adam
//   adamw      w ·= 1 − lr·weight_decay;  then as below                                   torch.optim.AdamW
//     m += (1 − beta1)·(g − m);  v = beta2·v + (1 − beta2)·g²;  w −= lr·m̂/(√v̂ + epsilon)
//     with m̂ = m/(1 − beta1^t), v̂ = v/(1 − beta2^t)
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

enum class OptimiserKind { sgd, momentum, adam, adamw };

struct OptimiserConfig {
  OptimiserKind kind = OptimiserKind::adamw;
  double learning_rate = 1e-3;  // > 0
  double momentum = 0.9;        // 0 ≤ momentum < 1
  double beta1 = 0.9;           // 0 ≤ beta1 < 1
  double beta2 = 0.999;         // 0 ≤ beta2 < 1
  double epsilon = 1e-8;        // ≥ 0
  double weight_decay = 0.0;    // ≥ 0
  std::optional<double> clip_norm =
      std::nullopt;  // > 0: a gradient with a larger norm is scaled down to it (torch.nn.utils.clip_grad_norm_)
  Index warm_up_steps = 0;  // ≥ 0: step s of these has (s + 1)/warm_up_steps of the learning rate
  std::optional<Index> cosine_steps =
      std::nullopt;  // > warm_up_steps: by this step the rate has fallen to final_share of it, along half a cosine
  double final_share = 0.0;  // 0 … 1

  friend bool operator==(const OptimiserConfig&, const OptimiserConfig&) = default;
};

// Throws Error(usage) for a value outside the ranges above: one sentence, naming the setting.
void check_optimiser(const OptimiserConfig& config);

// The learning rate of step s = 0, 1, …
double learning_rate_at(const OptimiserConfig& config, Index step);

// The numbers of the formulas above in step s = 0, 1, …
struct UpdateFactors {
  double learning_rate;
  double first_correction;   // 1 − beta1^t
  double second_correction;  // 1 − beta2^t
};
UpdateFactors update_factors(const OptimiserConfig& config, Index step);

// One parameter and its state: m of momentum, m and v of Adam; 0 where the optimiser has none.
template <class T>
struct OptimisedValue {
  T value = 0, first = 0, second = 0;
};

// What a step makes of it: the formula of a single cell, with the same bits as in the whole.
template <class T>
OptimisedValue<T> optimised(const OptimiserConfig& config, const UpdateFactors& factors, T gradient,
                            OptimisedValue<T> from);

// What a step did.
struct StepReport {
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  // √Σg² over all parameters, before clipping
  double clip_factor = 1.0;    // that the gradient was multiplied by
};

template <class T>
class Optimiser {
 public:
  // For `size` parameters; those with 1 in `frozen` (of that size, or empty) never change.
  // Throws as check_optimiser does.
  Optimiser(const OptimiserConfig& config, Index size, std::vector<std::uint8_t> frozen = {});

  // Changes the values. The gradient is clipped in place: afterwards it is the one that was applied. A
  // cancellation waits until the step is whole.
  StepReport step(std::span<T> values, std::span<T> gradient);

  const OptimiserConfig& config() const { return config_; }
  Index steps() const { return steps_; }
  // m and v of each parameter; empty where the optimiser has none.
  std::span<const T> first() const { return first_; }
  std::span<const T> second() const { return second_; }
  // Continues where another one was. Throws Error(usage) if the sizes are not those of this optimiser.
  void restore(Index steps, std::span<const T> first, std::span<const T> second);

 private:
  OptimiserConfig config_;
  Index steps_ = 0;
  std::vector<std::uint8_t> frozen_;
  std::vector<T> first_, second_;
  std::vector<double> squares_;  // of blocks of the gradient
};

// √Σx², summed in a fixed order; `squares` is scratch. Not finite if a number is not.
template <class T>
double norm_of(std::span<const T> x, std::vector<double>& squares);

extern template class Optimiser<float>;
extern template class Optimiser<double>;

}  // namespace headwise
