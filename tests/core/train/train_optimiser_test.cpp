#include "core/train/train_optimiser.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"
#include "tests/checks.h"

namespace headwise::test {
namespace {

constexpr OptimiserKind optimiser_kinds[] = {OptimiserKind::sgd, OptimiserKind::momentum, OptimiserKind::adam,
                                             OptimiserKind::adamw};

template <class T>
std::vector<T> drawn_values(Index count, const char* name) {
  const CounterRandom random(1, name);
  std::vector<T> values;
  for (Index i = 0; i < count; ++i)
    values.push_back(static_cast<T>(random.normal(static_cast<std::uint64_t>(i))));
  return values;
}

std::string optimiser_refusal(const OptimiserConfig& config) {
  return test::refusal_line([&] { check_optimiser(config); }, ExitStatus::usage);
}

}  // namespace

TEST_CASE("a step that is cancelled while it changes the parameters is taken whole") {
  constexpr Index size = 100'000;
  Optimiser<float> optimiser({}, size), cancelled_one({}, size);
  std::vector<float> values = drawn_values<float>(size, "values"), same = values;
  std::vector<float> gradient = drawn_values<float>(size, "gradient"), same_gradient = gradient;
  optimiser.step(values, gradient);
  const std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  cancelled_one.step(same, same_gradient);
  CHECK(same == values);
  CHECK(cancelled_one.steps() == 1);
}

TEST_CASE("each optimiser follows the formula of torch.optim") {
  // Three steps of one parameter, computed by hand.
  const double gradients[] = {0.5, -0.25, 2.0};
  for (const OptimiserKind kind : optimiser_kinds) {
    OptimiserConfig config;
    config.kind = kind;
    config.learning_rate = 0.1;
    config.weight_decay = 0.1;
    Optimiser<double> optimiser(config, 1);
    double w = 1.0, m = 0.0, v = 0.0, by_hand = 1.0;
    for (int t = 1; t <= 3; ++t) {
      double g = gradients[t - 1];
      std::vector<double> value{w}, gradient{g};
      optimiser.step(value, gradient);
      w = value[0];
      if (kind == OptimiserKind::adamw) by_hand -= 0.1 * 0.1 * by_hand;
      if (kind != OptimiserKind::adamw) g += 0.1 * by_hand;
      if (kind == OptimiserKind::sgd) by_hand -= 0.1 * g;
      if (kind == OptimiserKind::momentum) by_hand -= 0.1 * (m = 0.9 * m + g);
      if (kind == OptimiserKind::adam || kind == OptimiserKind::adamw) {
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        by_hand -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
      }
      CHECK(w == doctest::Approx(by_hand).epsilon(1e-13));
    }
    CHECK(optimiser.steps() == 3);
    CHECK((optimiser.first().empty() ? 0.0 : optimiser.first()[0]) == doctest::Approx(m).epsilon(1e-13));
    CHECK((optimiser.second().empty() ? 0.0 : optimiser.second()[0]) == doctest::Approx(v).epsilon(1e-13));
  }
}

TEST_CASE("the update of one value is that of the whole, bit for bit") {
  for (const OptimiserKind kind : optimiser_kinds) {
    OptimiserConfig config;
    config.kind = kind;
    config.weight_decay = 0.01;
    std::vector<float> values = drawn_values<float>(100, "values"),
                       gradient = drawn_values<float>(100, "gradient");
    Optimiser<float> optimiser(config, 100);
    for (int step = 0; step < 3; ++step) {
      std::vector<OptimisedValue<float>> expected;
      for (std::size_t i = 0; i < 100; ++i) {
        OptimisedValue<float> before{values[i]};
        if (!optimiser.first().empty()) before.first = optimiser.first()[i];
        if (!optimiser.second().empty()) before.second = optimiser.second()[i];
        expected.push_back(optimised(config, update_factors(config, step), gradient[i], before));
      }
      optimiser.step(values, gradient);
      for (std::size_t i = 0; i < 100; ++i) {
        CHECK(values[i] == expected[i].value);
        if (!optimiser.first().empty()) CHECK(optimiser.first()[i] == expected[i].first);
        if (!optimiser.second().empty()) CHECK(optimiser.second()[i] == expected[i].second);
      }
    }
  }
}

TEST_CASE(
    "the learning rate rises over the warm-up, falls along half a cosine and stays at its final share") {
  OptimiserConfig config;
  config.learning_rate = 2.0;
  CHECK(learning_rate_at(config, 0) == 2.0);
  config.warm_up_steps = 4;
  CHECK(learning_rate_at(config, 0) == 0.5);
  CHECK(learning_rate_at(config, 3) == 2.0);
  CHECK(learning_rate_at(config, 4) == 2.0);
  CHECK(learning_rate_at(config, 1000) == 2.0);
  config.cosine_steps = 14;
  config.final_share = 0.1;
  CHECK(learning_rate_at(config, 4) == 2.0);
  CHECK(learning_rate_at(config, 9) == doctest::Approx(2.0 * 0.55));
  CHECK(learning_rate_at(config, 14) == doctest::Approx(0.2));
  CHECK(learning_rate_at(config, 999) == doctest::Approx(0.2));
}

TEST_CASE("clipping scales a gradient that is too long down to the norm, and leaves a short one") {
  OptimiserConfig config;
  config.kind = OptimiserKind::sgd;
  config.learning_rate = 1.0;
  config.clip_norm = 2.0;
  std::vector<double> values(2, 0.0), gradient{3.0, 4.0};
  Optimiser<double> optimiser(config, 2);
  StepReport report = optimiser.step(values, gradient);
  CHECK(report.gradient_norm == 5.0);
  CHECK(report.clip_factor == 2.0 / (5.0 + 1e-6));
  CHECK(gradient[0] == 3.0 * report.clip_factor);
  CHECK(values[1] == -4.0 * report.clip_factor);
  gradient = {0.3, 0.4};
  report = optimiser.step(values, gradient);
  CHECK(report.clip_factor == 1.0);
  CHECK(gradient[0] == 0.3);
}

TEST_CASE("steps have the same bits for 1, 2 and 5 threads, and leave frozen values alone") {
  constexpr Index count = 50'000;
  for (const OptimiserKind kind : optimiser_kinds) {
    OptimiserConfig config;
    config.kind = kind;
    config.weight_decay = 0.01;
    config.clip_norm = 1.0;
    std::vector<std::uint8_t> frozen(count, 0);
    frozen[7] = frozen[40'000] = 1;
    std::vector<double> first;
    for (const int threads : {1, 2, 5}) {
      const ThreadLimit limit(threads);
      std::vector<double> values = drawn_values<double>(count, "values");
      Optimiser<double> optimiser(config, count, frozen);
      for (int step = 0; step < 3; ++step) {
        std::vector<double> gradient = drawn_values<double>(count, "gradient");
        optimiser.step(values, gradient);
      }
      if (threads == 1) first = values;
      CHECK(values == first);
      const std::vector<double> before = drawn_values<double>(count, "values");
      CHECK(values[7] == before[7]);
      CHECK(values[40'000] == before[40'000]);
      CHECK(values[8] != before[8]);
    }
  }
}

TEST_CASE("an optimiser that is restored continues as one that never stopped, bit for bit") {
  for (const OptimiserKind kind : optimiser_kinds) {
    OptimiserConfig config;
    config.kind = kind;
    config.warm_up_steps = 3;
    config.cosine_steps = 8;
    std::vector<float> values = drawn_values<float>(64, "values");
    const auto take = [&](Optimiser<float>& optimiser, std::vector<float>& to, int from, int until) {
      for (int step = from; step < until; ++step) {
        std::vector<float> gradient = drawn_values<float>(64, step % 2 == 0 ? "even" : "odd");
        optimiser.step(to, gradient);
      }
    };
    Optimiser<float> whole(config, 64), half(config, 64), rest(config, 64);
    std::vector<float> stopped = values;
    take(whole, values, 0, 6);
    take(half, stopped, 0, 3);
    rest.restore(half.steps(), half.first(), half.second());
    take(rest, stopped, 3, 6);
    CHECK(stopped == values);
    CHECK_THROWS_AS(rest.restore(1, std::vector<float>(3), {}), Error);
  }
}

TEST_CASE("an optimiser's setting that makes no sense is refused in one sentence that names it") {
  CHECK(optimiser_refusal({}).empty());
  const auto refused = [](const char* setting, auto&& change) {
    OptimiserConfig config;
    change(config);
    const std::string line = optimiser_refusal(config);
    CHECK_MESSAGE(line.starts_with(setting), line);
  };
  refused("learning_rate", [](OptimiserConfig& c) { c.learning_rate = 0.0; });
  refused("learning_rate", [](OptimiserConfig& c) { c.learning_rate = NAN; });
  refused("momentum", [](OptimiserConfig& c) { c.momentum = 1.0; });
  refused("beta1", [](OptimiserConfig& c) { c.beta1 = -0.1; });
  refused("beta2", [](OptimiserConfig& c) { c.beta2 = 1.0; });
  refused("epsilon", [](OptimiserConfig& c) { c.epsilon = -1.0; });
  refused("weight_decay", [](OptimiserConfig& c) { c.weight_decay = INFINITY; });
  refused("clip_norm", [](OptimiserConfig& c) { c.clip_norm = 0.0; });
  refused("warm_up_steps", [](OptimiserConfig& c) { c.warm_up_steps = -1; });
  refused("cosine_steps", [](OptimiserConfig& c) { c.warm_up_steps = c.cosine_steps.emplace(5); });
  refused("final_share", [](OptimiserConfig& c) { c.final_share = 1.5; });
}

TEST_CASE("the norm of a gradient with a number that is not finite is not finite") {
  std::vector<double> squares;
  std::vector<float> x(10'000, 1.0f);
  CHECK(norm_of(std::span<const float>(x), squares) == doctest::Approx(100.0));
  x[9'999] = NAN;
  CHECK(std::isnan(norm_of(std::span<const float>(x), squares)));
}

}  // namespace headwise::test
