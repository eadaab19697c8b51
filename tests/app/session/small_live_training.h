// A watched training of a few quick steps, for tests.
#pragma once

#include <chrono>
#include <thread>

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
    training.take_in();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  training.take_in();
}

inline void train_to(LiveTraining& training, Index step) {
  training.play(0.0, step);
  wait_for(training);
}

}  // namespace headwise::test
