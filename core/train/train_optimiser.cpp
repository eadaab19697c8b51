// Compiled without fused multiply-adds, so that f64 has the same bits on every machine.
#include "core/train/train_optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr Index block_values = 4096;
constexpr double cost_of_update = 20.0;  // of a parameter, in multiply-adds

void require(bool valid, const char* setting, double got, const char* expected) {
  if (!valid)
    throw Error(ExitStatus::usage,
                {setting, "the value is out of range", fmt::format("{}", got), expected, ""});
}

bool is_adam(OptimiserKind kind) {
  return kind == OptimiserKind::adam || kind == OptimiserKind::adamw;
}

// The factors as the formulas take them, rounded to T once.
template <class T>
struct RoundedFactors {
  T rate, decay, kept, momentum, first_share, second_share, beta2, step_size, second_root, epsilon;

  RoundedFactors(const OptimiserConfig& config, const UpdateFactors& factors)
      : rate(static_cast<T>(factors.learning_rate)),
        decay(static_cast<T>(config.weight_decay)),
        kept(static_cast<T>(1.0 - factors.learning_rate * config.weight_decay)),
        momentum(static_cast<T>(config.momentum)),
        first_share(static_cast<T>(1.0 - config.beta1)),
        second_share(static_cast<T>(1.0 - config.beta2)),
        beta2(static_cast<T>(config.beta2)),
        step_size(static_cast<T>(factors.learning_rate / factors.first_correction)),
        second_root(static_cast<T>(std::sqrt(factors.second_correction))),
        epsilon(static_cast<T>(config.epsilon)) {}
};

template <OptimiserKind Kind, class T>
inline void update(const RoundedFactors<T>& f, T g, T& w, T& m, T& v) {
  if constexpr (Kind == OptimiserKind::adamw) {
    w *= f.kept;
  } else {
    g += f.decay * w;
  }
  if constexpr (Kind == OptimiserKind::sgd) {
    w -= f.rate * g;
  } else if constexpr (Kind == OptimiserKind::momentum) {
    m = f.momentum * m + g;
    w -= f.rate * m;
  } else {
    m += f.first_share * (g - m);
    v = f.beta2 * v + f.second_share * (g * g);
    w -= f.step_size * (m / (std::sqrt(v) / f.second_root + f.epsilon));
  }
}

// Calls f.operator()<Kind>().
template <class F>
void dispatch_kind(OptimiserKind kind, F&& f) {
  switch (kind) {
    case OptimiserKind::sgd:
      return f.template operator()<OptimiserKind::sgd>();
    case OptimiserKind::momentum:
      return f.template operator()<OptimiserKind::momentum>();
    case OptimiserKind::adam:
      return f.template operator()<OptimiserKind::adam>();
    case OptimiserKind::adamw:
      return f.template operator()<OptimiserKind::adamw>();
  }
}

// Values [first, last), that the optimiser has no m or v for gets a number that nobody reads.
template <OptimiserKind Kind, class T>
void update_range(const RoundedFactors<T>& factors, const T* gradient, const std::uint8_t* frozen, T* values,
                  T* m, T* v, Index first, Index last) {
  T none = 0;
  for (Index i = first; i < last; ++i) {
    if (frozen && frozen[i]) continue;
    if constexpr (Kind == OptimiserKind::sgd) {
      update<Kind>(factors, gradient[i], values[i], none, none);
    } else if constexpr (Kind == OptimiserKind::momentum) {
      update<Kind>(factors, gradient[i], values[i], m[i], none);
    } else {
      update<Kind>(factors, gradient[i], values[i], m[i], v[i]);
    }
  }
}

}  // namespace

void check_optimiser(const OptimiserConfig& config) {
  const auto is_share = [](double x) { return x >= 0.0 && x < 1.0; };
  const auto is_size = [](double x) { return x >= 0.0 && std::isfinite(x); };
  require(config.learning_rate > 0.0 && std::isfinite(config.learning_rate), "learning_rate",
          config.learning_rate, "a finite number above 0");
  require(is_share(config.momentum), "momentum", config.momentum, "at least 0 and below 1");
  require(is_share(config.beta1), "beta1", config.beta1, "at least 0 and below 1");
  require(is_share(config.beta2), "beta2", config.beta2, "at least 0 and below 1");
  require(is_size(config.epsilon), "epsilon", config.epsilon, "a finite number of at least 0");
  require(is_size(config.weight_decay), "weight_decay", config.weight_decay, "a finite number of at least 0");
  if (config.clip_norm)
    require(*config.clip_norm > 0.0 && std::isfinite(*config.clip_norm), "clip_norm", *config.clip_norm,
            "a finite number above 0");
  require(config.warm_up_steps >= 0, "warm_up_steps", static_cast<double>(config.warm_up_steps), "at least 0");
  if (config.cosine_steps)
    require(*config.cosine_steps > config.warm_up_steps, "cosine_steps",
            static_cast<double>(*config.cosine_steps), "more than warm_up_steps");
  require(config.final_share >= 0.0 && config.final_share <= 1.0, "final_share", config.final_share, "0 to 1");
}

double learning_rate_at(const OptimiserConfig& config, Index step) {
  const double rate = config.learning_rate;
  if (step < config.warm_up_steps)
    return rate * static_cast<double>(step + 1) / static_cast<double>(config.warm_up_steps);
  if (!config.cosine_steps) return rate;
  const Index begin = config.warm_up_steps, end = *config.cosine_steps;
  const long double part =
      static_cast<long double>(std::min(step, end) - begin) / static_cast<long double>(end - begin);
  // In long double, whose cosine is the same on every machine.
  const auto wave = static_cast<double>((1.0L + std::cos(std::numbers::pi_v<long double> * part)) / 2.0L);
  return rate * (config.final_share + (1.0 - config.final_share) * wave);
}

UpdateFactors update_factors(const OptimiserConfig& config, Index step) {
  const auto correction = [&](double beta) {
    return static_cast<double>(1.0L -
                               std::pow(static_cast<long double>(beta), static_cast<long double>(step + 1)));
  };
  return {learning_rate_at(config, step), correction(config.beta1), correction(config.beta2)};
}

template <class T>
OptimisedValue<T> optimised(const OptimiserConfig& config, const UpdateFactors& factors, T gradient,
                            OptimisedValue<T> from) {
  const RoundedFactors<T> rounded(config, factors);
  dispatch_kind(config.kind, [&]<OptimiserKind Kind>() {
    update<Kind>(rounded, gradient, from.value, from.first, from.second);
  });
  return from;
}

template <class T>
double norm_of(std::span<const T> x, std::vector<double>& squares) {
  const Index count = std::ssize(x), blocks = (count + block_values - 1) / block_values;
  squares.resize(static_cast<std::size_t>(blocks));
  for_ranges(blocks, block_values, [&](Index first, Index last) {
    for (Index block = first; block < last; ++block) {
      // Eight sums, so that an addition need not wait for the one before it.
      double sums[8] = {};
      const Index begin = block * block_values, end = std::min(count, begin + block_values);
      for (Index i = begin; i < end; ++i) {
        const auto value = static_cast<double>(x[static_cast<std::size_t>(i)]);
        sums[(i - begin) % 8] += value * value;
      }
      for (Index half = 4; half > 0; half /= 2)
        for (Index i = 0; i < half; ++i) sums[i] += sums[i + half];
      squares[static_cast<std::size_t>(block)] = sums[0];
    }
  });
  double sum = 0.0;
  for (const double square : squares) sum += square;
  return std::sqrt(sum);
}

template <class T>
Optimiser<T>::Optimiser(const OptimiserConfig& config, Index size, std::vector<std::uint8_t> frozen)
    : config_(config), frozen_(std::move(frozen)) {
  check_optimiser(config);
  if (config.kind != OptimiserKind::sgd) first_.resize(static_cast<std::size_t>(size));
  if (is_adam(config.kind)) second_.resize(static_cast<std::size_t>(size));
}

template <class T>
StepReport Optimiser<T>::step(std::span<T> values, std::span<T> gradient) {
  const CancelScope whole(nullptr);
  StepReport report;
  const UpdateFactors factors = update_factors(config_, steps_);
  report.learning_rate = factors.learning_rate;
  report.gradient_norm = norm_of(std::span<const T>(gradient), squares_);
  if (config_.clip_norm)
    report.clip_factor = std::min(1.0, *config_.clip_norm / (report.gradient_norm + 1e-6));
  const auto clip = static_cast<T>(report.clip_factor);
  const RoundedFactors<T> rounded(config_, factors);
  const std::uint8_t* const frozen = frozen_.empty() ? nullptr : frozen_.data();
  for_ranges(std::ssize(values), cost_of_update, [&](Index first, Index last) {
    if (clip != T(1))
      for (Index i = first; i < last; ++i) gradient[static_cast<std::size_t>(i)] *= clip;
    dispatch_kind(config_.kind, [&]<OptimiserKind Kind>() {
      update_range<Kind>(rounded, gradient.data(), frozen, values.data(), first_.data(), second_.data(),
                         first, last);
    });
  });
  ++steps_;
  return report;
}

template <class T>
void Optimiser<T>::restore(Index steps, std::span<const T> first, std::span<const T> second) {
  if (first.size() != first_.size() || second.size() != second_.size() || steps < 0)
    throw Error(ExitStatus::usage, {"optimiser", "the state is not that of this optimiser",
                                    fmt::format("{} and {} values", first.size(), second.size()),
                                    fmt::format("{} and {}", first_.size(), second_.size()), ""});
  steps_ = steps;
  std::ranges::copy(first, first_.begin());
  std::ranges::copy(second, second_.begin());
}

template OptimisedValue<float> optimised(const OptimiserConfig&, const UpdateFactors&, float,
                                         OptimisedValue<float>);
template OptimisedValue<double> optimised(const OptimiserConfig&, const UpdateFactors&, double,
                                          OptimisedValue<double>);
template double norm_of(std::span<const float>, std::vector<double>&);
template double norm_of(std::span<const double>, std::vector<double>&);
template class Optimiser<float>;
template class Optimiser<double>;

}  // namespace headwise
