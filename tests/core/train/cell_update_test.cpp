#include "core/train/cell_update.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/tensor/error.h"
#include "tests/core/train/small_training.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {
namespace {

// A run of some steps, and the explanation of its next one.
template <class T>
struct ExplainedStep {
  TrainTask task;
  TrainingSettings settings;
  TrainingRun<T> run;
  StepExplanation<T> explanation;

  explicit ExplainedStep(const TrainingSettings& given, Index steps = 3)
      : task(named_task("lookup")),
        settings(given),
        run(task, settings),
        explanation(task, settings, (take(run, steps), run.state())) {}

  static void take(TrainingRun<T>& run, Index steps) {
    for (Index i = 0; i < steps; ++i) REQUIRE(run.take_step());
  }
};

TrainingSettings settings_of(OptimiserKind kind) {
  TrainingSettings settings = two_head_settings(named_task("lookup"), 8, 0.1);
  settings.optimiser.kind = kind;
  settings.optimiser.clip_norm = 0.05;
  settings.optimiser.weight_decay = 0.1;
  return settings;
}

}  // namespace

TEST_CASE("the terms of a cell's update give the value that the run has after the step, to the last bit") {
  for (const OptimiserKind kind :
       {OptimiserKind::sgd, OptimiserKind::momentum, OptimiserKind::adam, OptimiserKind::adamw}) {
    ExplainedStep<float> of(settings_of(kind));
    REQUIRE(of.run.take_step());
    for (std::size_t p = 0; p < of.run.parameters().size(); ++p) {
      const TrainParameter& parameter = of.run.parameters()[p];
      const CellUpdate update = of.explanation.update(p, parameter.rows() - 1, parameter.columns() - 1);
      const auto last = static_cast<std::size_t>(parameter.offset + parameter.size() - 1);
      CAPTURE(update.name);
      CHECK(update.step == 3);
      CHECK(static_cast<float>(update.result) == of.run.values()[last]);
      CHECK(static_cast<float>(update.gradient) == of.run.gradient()[last]);
      CHECK(update.clip_factor < 1.0);
      if (kind == OptimiserKind::adamw) {
        CHECK(static_cast<float>(update.first) == of.run.optimiser().first()[last]);
        CHECK(static_cast<float>(update.second) == of.run.optimiser().second()[last]);
        const double by_formula =
            update.value * (1.0 - update.learning_rate * 0.1) -
            update.learning_rate * update.first_unbiased / (std::sqrt(update.second_unbiased) + 1e-8);
        CHECK(update.result == doctest::Approx(by_formula).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE(
    "what the tokens of the batch add to a cell's gradient adds up to it, for every parameter of every "
    "option") {
  for (const NamedTrainModel& option : trained_options()) {
    CAPTURE(option.name);
    const TrainBatch batch = random_batch(option.config, 40, 7);
    const std::vector<double> values = moved_parameters(option.config);
    TrainPass<double> pass(option.config);
    std::vector<double> gradient(values.size());
    std::vector<std::uint64_t> seeds;
    if (option.config.dropout > 0.0)
      for (Index layer = 0; layer < option.config.layers; ++layer)
        seeds.push_back(static_cast<std::uint64_t>(21 + layer));
    pass.gradient(values, batch, gradient, seeds);
    for (const TrainParameter& parameter : pass.parameters()) {
      CAPTURE(parameter.name);
      const Index which = parameter.offset + parameter.size() * 2 / 3;
      const std::vector<double> shares = pass.gradient_shares(values, batch, which, seeds);
      const double sum = std::accumulate(shares.begin(), shares.end(), 0.0),
                   whole = gradient[static_cast<std::size_t>(which)];
      CHECK(std::abs(sum - whole) <= 1e-13 + 1e-10 * std::abs(whole));
    }
  }
}

TEST_CASE(
    "an embedding gets its gradient from the tokens that are it, a position from those that stand there, an "
    "answer where it is asked") {
  TrainModelConfig config = trained_options().front().config;
  const TrainBatch batch = random_batch(config, 10, 7);
  const std::vector<double> values = moved_parameters(config);
  TrainPass<double> pass(config);
  Index of_token = 0, elsewhere = 0, of_place = 0, of_others = 0;
  const std::vector<double> by_token = pass.gradient_shares(values, batch, 4 * config.width + 1);
  REQUIRE(pass.parameters()[1].role == TrainRole::positions);
  const std::vector<double> by_place =
      pass.gradient_shares(values, batch, pass.parameters()[1].offset + 2 * config.width);
  for (std::size_t i = 0; i < by_token.size(); ++i) {
    (batch.tokens[i] == 4 ? of_token : elsewhere) += by_token[i] != 0.0;
    (i % 7 == 2 ? of_place : of_others) += by_place[i] != 0.0;
  }
  REQUIRE(pass.parameters().back().role == TrainRole::unembedding);
  const std::vector<double> by_answer =
      pass.gradient_shares(values, batch, pass.parameters().back().offset + 3);
  for (std::size_t i = 0; i < by_answer.size(); ++i) CHECK((by_answer[i] != 0.0) == (batch.targets[i] >= 0));
  CHECK(of_token > 3);
  CHECK(elsewhere == 0);
  CHECK(of_place > 3);
  CHECK(of_others == 0);
}

TEST_CASE("the shares of a sequence are those of a batch in which only its answers count") {
  ExplainedStep<double> of(settings_of(OptimiserKind::adamw));
  std::size_t in_weight = 0;
  while (of.run.parameters()[in_weight].role != TrainRole::in_weight) ++in_weight;
  const GradientSources sources = of.explanation.sources(in_weight, 5, 2);
  const CellUpdate update = of.explanation.update(in_weight, 5, 2);
  CHECK(sources.of_tokens.size() == of.explanation.batch().tokens.size());
  double sum = 0.0;
  for (Index n = 0; n < sources.sequences; ++n) sum += sources.of_sequence(n);
  CHECK(sum == doctest::Approx(update.gradient).epsilon(1e-9));

  Index largest = 0;
  for (Index n = 1; n < sources.sequences; ++n)
    if (std::abs(sources.of_sequence(n)) > std::abs(sources.of_sequence(largest))) largest = n;
  TrainBatch alone = of.explanation.batch();
  const auto counted = [&] {
    return static_cast<double>(std::ranges::count_if(alone.targets, [](std::int32_t t) { return t >= 0; }));
  };
  const double all = counted();
  for (std::size_t i = 0; i < alone.targets.size(); ++i)
    if (static_cast<Index>(i) / alone.length != largest) alone.targets[i] = -1;
  TrainPass<double> pass(of.settings.model);
  std::vector<double> gradient(static_cast<std::size_t>(pass.size()));
  pass.gradient(of.run.values(), alone, gradient, dropout_seeds_of(of.settings, 3));
  const TrainParameter& parameter = pass.parameters()[in_weight];
  const double expected =
      gradient[static_cast<std::size_t>(parameter.offset + 5 * parameter.columns() + 2)] * counted() / all;
  CHECK(sources.of_sequence(largest) == doctest::Approx(expected * update.clip_factor).epsilon(1e-9));
  for (Index n = 0; n < sources.sequences; ++n)
    CHECK(std::abs(sources.of_sequence(n)) <= std::abs(sources.of_sequence(largest)));
}

TEST_CASE("an update is a formula with its terms") {
  CellUpdate update;
  update.optimiser = {.kind = OptimiserKind::adam, .learning_rate = 0.001};
  update.step = 0;
  update.value = 0.0312;
  update.batch_gradient = update.gradient = -0.42;
  update.learning_rate = 0.001;
  update.first = -0.042;
  update.second = 1.764e-4;
  update.first_unbiased = -0.42;
  update.second_unbiased = 0.1764;
  update.result = 0.0322;
  CHECK(update_formula(update) == "w − lr·m̂/(√v̂ + ε) = 0.0312 − 0.001·(−0.42)/(0.42 + 1e-08) = 0.0322");
  CHECK(update_terms(update) ==
        std::vector<std::string>{"g = ∂loss/∂w = −0.42",
                                 "m = β1·m + (1 − β1)·g = 0.9·0 + 0.1·(−0.42) = −0.042",
                                 "v = β2·v + (1 − β2)·g² = 0.999·0 + 0.001·(−0.42)² = 0.0001764",
                                 "m̂ = m/(1 − β1^t) = −0.042/(1 − 0.9^1) = −0.42",
                                 "v̂ = v/(1 − β2^t) = 0.0001764/(1 − 0.999^1) = 0.1764"});
  update.optimiser.kind = OptimiserKind::adamw;
  update.optimiser.weight_decay = 0.01;
  CHECK(update_formula(update).starts_with("w·(1 − lr·λ) − lr·m̂/(√v̂ + ε) = 0.0312·(1 − 0.001·0.01) − "));
  update.optimiser.kind = OptimiserKind::sgd;
  update.optimiser.clip_norm = 0.5;
  update.gradient_norm = 2.0;
  update.clip_factor = 0.25;
  update.gradient = -0.105;
  CHECK(update_formula(update).starts_with("w − lr·g = 0.0312 − 0.001·(−0.1047) = "));
  CHECK(update_terms(update) ==
        std::vector<std::string>{"clip = min(1, 0.5/2) = 0.25",
                                 "g = clip·∂loss/∂w + λ·w = 0.25·(−0.42) + 0.01·0.0312 = −0.1047"});
  update.optimiser.kind = OptimiserKind::momentum;
  CHECK(update_formula(update).starts_with("w − lr·m = "));
  CHECK(update_terms(update).back().starts_with("m = μ·m + g = 0.9·0 + (−0.1047) = "));
  update.frozen = true;
  CHECK(update_formula(update) == "w = 0.0312: it belongs to a frozen head");
  CHECK(update_terms(update).empty());
}

TEST_CASE("a frozen cell stays and has no sources; a cell or a state that is not there is refused") {
  TrainingSettings settings = settings_of(OptimiserKind::adamw);
  settings.model.frozen_heads = {{0, 1}};
  ExplainedStep<float> of(settings);
  std::size_t out_weight = 0;
  while (of.run.parameters()[out_weight].role != TrainRole::out_weight) ++out_weight;
  const CellUpdate frozen = of.explanation.update(out_weight, 0, 15),
                   free = of.explanation.update(out_weight, 0, 0);
  CHECK(frozen.frozen);
  CHECK(frozen.result == frozen.value);
  CHECK(!free.frozen);
  CHECK(free.result != free.value);
  CHECK(std::ranges::count(of.explanation.sources(out_weight, 0, 15).of_tokens, 0.0) ==
        std::ssize(of.explanation.batch().tokens));
  CHECK_THROWS_AS(of.explanation.update(out_weight, 16, 0), Error);
  CHECK_THROWS_AS(of.explanation.update(99, 0, 0), Error);
  TrainingState<float> other = of.run.state();
  other.values.pop_back();
  CHECK_THROWS_AS(StepExplanation<float>(of.task, settings, other), Error);
}

}  // namespace headwise::test
