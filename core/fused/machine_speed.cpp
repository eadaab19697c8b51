#include "core/fused/machine_speed.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"
#include "core/tensor/tensor.h"

namespace headwise {

HEADWISE_KERNELS(PeakKernel, peak_kernel)

namespace {

constexpr Index copied_floats = Index{32} << 20;  // 128 MiB for the source and as much for the copy
constexpr int copies = 5;
// Tasks per thread: a thread that started late does fewer.
constexpr Index tasks_of_thread = 16;

double seconds_of_work(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double fma_peak_gflops(int threads, double seconds) {
  const PeakKernel& peak = peak_kernel(chosen_instruction_set());
  std::atomic<float> asked_for = 0.0f;
  // First on one thread, to find out how many rounds take that long.
  constexpr std::int64_t trial = 20000;
  const double trial_seconds = seconds_of_work([&] { asked_for = peak.run(trial); });
  const double rounds = trial * seconds / trial_seconds / static_cast<double>(tasks_of_thread);
  const auto task_rounds = std::max<std::int64_t>(1000, std::llround(std::min(rounds, 1e9)));
  const Index tasks = threads * tasks_of_thread;
  const double taken = seconds_of_work(
      [&] { run_tasks(tasks, threads, [&](Index, int) { asked_for = peak.run(task_rounds); }); });
  return 1e-9 * static_cast<double>(tasks * task_rounds * peak.round_flops) / taken;
}

double copy_bandwidth_gbs(int threads) {
  const Tensor from(Shape{{"x", copied_floats}}, DType::f32);
  Tensor to(Shape{{"x", copied_floats}}, DType::f32);
  const float* const source = from.values<float>().data();
  float* const target = to.values<float>().data();
  const Index parts = threads * tasks_of_thread;
  double least = INFINITY;
  for (int i = 0; i < copies; ++i) {
    least = std::min(least, seconds_of_work([&] {
                       run_tasks(parts, threads, [&](Index part, int) {
                         const Index first = copied_floats * part / parts;
                         std::copy(source + first, source + copied_floats * (part + 1) / parts, target + first);
                       });
                     }));
  }
  return 1e-9 * 2.0 * sizeof(float) * static_cast<double>(copied_floats) / least;
}

}  // namespace headwise
