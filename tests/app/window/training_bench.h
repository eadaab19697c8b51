// A window with the training view open, and what its tests wait for.
#pragma once

#include <string>

#include "tests/app/window_bench.h"

namespace headwise {

inline const LiveTraining& training_of(const WindowBench& bench) {
  return bench.state().document.training;
}

inline void wait_until_idle(WindowBench& bench) {
  bench.ui->run_until([&] { return !training_of(bench).busy(); }).run_frames(2);
}

// On a task whose steps are quick.
inline WindowBench open_training(int width = 1280, int height = 720) {
  WindowBench bench = open_unpainted(width, height);
  if (!bench.ui) return bench;
  bench.state().dialogs.training.task = "previous-token";
  bench.ui->key("N");
  wait_until_idle(bench);
  return bench;
}

inline void step_to(WindowBench& bench, Index step) {
  while (training_of(bench).step() < step) {
    bench.ui->key("Right");
    wait_until_idle(bench);
  }
}

}  // namespace headwise
