// The sheet "Full size" on the GPU: what it tells,
// and what becomes of a run that the GPU does not bring to its end.
#include <algorithm>
#include <chrono>
#include <thread>

#include "app/panels/full_size_sheet.h"
#include "app/session/full_size_runs.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_limits.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/skipped.h"

using namespace headwise;

namespace {

FullSizeRequest request_of(BackendId backend, Index length = 150) {
  return {.model = 0, .length = length, .is_causal = true, .hand_made = true, .backend = backend};
}

// In a thread of its own, as the window does it: it makes a context current.
FullSizeResultPtr run_beside(const FullSizeRequest& request) {
  FullSizeResultPtr result;
  std::thread([&] { result = full_size_run(request); }).join();
  return result;
}

bool has_compute(const FullSizeResult& result) {
  if (result.forward.notice.empty()) return true;
  test::say_skipped(result.forward.notice);
  return false;
}

void wait_for_gl_result(WindowBench& bench) {
  for (int i = 0; bench.state().document.full_size_runs.running() && i < 3000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  bench.ui->run_frames(3);
}

}  // namespace

TEST_CASE("gl gives the output and the maps of fused, and tells the GPU, its memory and its slices") {
  const FullSizeResultPtr gl = run_beside(request_of(BackendId::gl));
  REQUIRE_MESSAGE(gl->error.empty(), gl->error);
  if (!has_compute(*gl)) return;
  const FullSizePasses& forward = gl->forward;
  CHECK(forward.backend == BackendId::gl);
  CHECK_FALSE(forward.gpu.empty());
  CHECK(forward.seconds > 0.0);
  CHECK(forward.runs >= 1);
  CHECK(forward.longest_slice > 0.0);
  // Parameters of four layers, the tokens, q, k, v, the heads and the output, f32, and little beside them.
  const double numbers = 4.0 * 512 * 513 + 6.0 * 150 * 512 + 2.0 * 8 * 150;
  CHECK(forward.gpu_mib == doctest::Approx(numbers * 4.0 / 1048576.0).epsilon(0.01));
  CHECK(gl->agreement.max_abs_diff < 1e-4);

  const FullSizeResultPtr fused = run_beside(request_of(BackendId::fused));
  float worst = 0.0f;
  for (Index h = 0; h < 8; ++h) {
    const std::vector<float>& a = fused->pyramid->levels(0, h).front().mean;
    const std::vector<float>& b = gl->pyramid->levels(0, h).front().mean;
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  CHECK(worst < 1e-4f);
}

TEST_CASE("without compute shaders, and after a fault on the way, fused does the run and a notice says why") {
  const FullSizeResultPtr fused = run_beside(request_of(BackendId::fused));
  const auto check_taken_over = [&](GpuFault fault, int times, const char* word) {
    CAPTURE(word);
    CAPTURE(times);
    const SimulatedGpuFault simulated(fault, times);
    const FullSizeResultPtr result = run_beside(request_of(BackendId::gl));
    REQUIRE(result->error.empty());
    CHECK_CONTAINS(result->forward.notice, word);
    CHECK_CONTAINS(result->forward.notice, "fused backend");
    CHECK(result->forward.backend == BackendId::fused);
    CHECK(identical(*result->forward.trace->tensors.output, *fused->forward.trace->tensors.output));
    CHECK(result->pyramid->levels(0, 3).front().max == fused->pyramid->levels(0, 3).front().max);
  };
  if (!has_compute(*run_beside(request_of(BackendId::gl)))) return;
  check_taken_over(GpuFault::no_compute, 0, "compute shaders");
  for (const int times : {0, 9, 25}) {
    check_taken_over(GpuFault::context_lost, times, "reset");
    check_taken_over(GpuFault::out_of_memory, times, "memory");
  }
}

TEST_CASE("the sheet runs on the GPU, and says so, or shows why it did not") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("Z");
  bench.ui->run_frames(6);  // the sheet finds its size
  FullSizeState& state = bench.state().dialogs.full_size;
  FullSizeRuns& runs = bench.state().document.full_size_runs;
  runs.cancel();  // what it begins with
  bench.ui->run_frames(2);
  state.request = request_of(BackendId::gl);
  bench.ui->click("full_size/run");
  wait_for_gl_result(bench);
  REQUIRE(bench.ui->has("full_size/figures"));
  if (!has_compute(*runs.result())) return;
  CHECK_FALSE(bench.ui->has("full_size/notice"));
  CHECK(runs.result()->forward.backend == BackendId::gl);
  CHECK(runs.result()->forward.peak_gflops > 0.0);
  const auto figures = full_size_figures(*runs.result());
  CHECK(std::ranges::count(figures, "of this GPU's peak", [](const auto& figure) { return figure.first; }) == 1);
  {
    const SimulatedGpuFault simulated(GpuFault::context_lost, 12);
    bench.ui->click("full_size/run");
    wait_for_gl_result(bench);
  }
  bench.ui->check_shown({"full_size/notice", "full_size/figures", "full_size/map/7"});
}

TEST_CASE("a run on the GPU shows how far it has come while frames go on, and is given up") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("Z").run_frames(6);
  FullSizeState& state = bench.state().dialogs.full_size;
  FullSizeRuns& runs = bench.state().document.full_size_runs;
  runs.cancel();
  bench.ui->run_frames(2);
  state.request = {
      .model = 5, .length = 1024, .is_causal = false, .hand_made = false, .backend = BackendId::gl};
  bench.ui->click("full_size/run");
  for (int i = 0; i < 20; ++i) {
    bench.ui->run_frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (runs.running()) {
    CHECK(bench.ui->has("full_size/progress"));
    bench.ui->click("full_size/cancel");
  }
  CHECK_FALSE(runs.running());
  CHECK_FALSE(runs.result());
}

TEST_CASE("the length goes from stop to stop with the slider and to any number with the field") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("Z").run_frames(6);
  FullSizeState& state = bench.state().dialogs.full_size;
  const UiRect slider = bench.ui->rect("full_size/length_slider");
  const double y = 0.5 * (slider.min.y + slider.max.y), width = slider.max.x - slider.min.x;
  bench.ui->drag(slider.min.x + 0.5 * width, y, slider.max.x - 1.0, y);
  CHECK(state.request.length == 8192);
  bench.ui->drag(slider.max.x - 6.0, y, slider.min.x + 1.0, y);
  CHECK(state.request.length == 64);
  state.request.length = 150;  // between two stops: it stays until somebody moves it
  bench.ui->run_frames(3);
  CHECK(state.request.length == 150);
  bench.ui->click(slider.min.x + 2.0 / 7.0 * width, y);
  CHECK(state.request.length == 256);
  CHECK(bench.ui->has("full_size/length"));
}
