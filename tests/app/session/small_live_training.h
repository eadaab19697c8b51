// A watched training of a few quick steps, for tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "app/session/live_training.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {

inline TrainingSettings small_settings(const char* task = "previous-token") {
  return two_head_settings(named_task(task), 8, 0.1);
}

inline void begin_small(LiveTraining& training, const TrainingSettings& settings = small_settings()) {
  training.begin({.name = "previous-token"}, settings);
}

inline void wait_for(LiveTraining& training) {
  while (training.busy()) {
    training.collect_results();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  training.collect_results();
}

inline void train_to(LiveTraining& training, Index step) {
  training.play(0.0, step);
  wait_for(training);
}

inline std::vector<float> losses_of(const WatchedRun& run) {
  std::vector<float> losses;
  for (const TrainingLoss& loss : run.losses) losses.push_back(loss.loss);
  return losses;
}

// As many steps of a run that nobody watches.
inline std::vector<float> losses_alone(const TrainingSettings& settings, Index steps) {
  TrainingRun<float> run(named_task("previous-token"), settings);
  std::vector<float> losses;
  while (run.step() < steps) losses.push_back(static_cast<float>(run.take_step()->batch.loss));
  return losses;
}

inline bool same_maps(const TrainingPoint& a, TrainingRun<float>& run) {
  const std::vector<Tensor> maps = run.held_out_maps(0);
  for (std::size_t layer = 0; layer < maps.size(); ++layer)
    if (!std::ranges::equal(a.maps[layer]->values<float>(), maps[layer].values<float>())) return false;
  return a.maps.size() == maps.size();
}

}  // namespace headwise::test
