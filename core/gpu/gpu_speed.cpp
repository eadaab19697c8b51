#include "core/gpu/gpu_speed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <functional>

#include "core/gpu/gl_queue.h"
#include "core/gpu/gpu_faults.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {

std::string_view embedded_multiply_add_peak_comp(), embedded_copy_rate_comp();

namespace {

constexpr Index group_threads = 256;
// Of shaders/multiply_add_peak.comp: a thread and round, a multiply-add counted as two;
// and the sum of a group's first thread.
constexpr double round_flops = 2.0 * 16 * 8;
constexpr float sum_of_first = 28.0f / 512.0f;
// Few groups of few rounds first, for software. Then rounds, so that beginning and ending a group costs
// little; then groups, so that the last of them to finish leave little of a large GPU idle;
// then rounds again.
constexpr Index fewest_groups = 16, most_groups = 65535;
constexpr Index enough_rounds = 64, most_rounds = Index{1} << 24;
constexpr int slices = 3;
constexpr double fastest_growth = 8.0;

// A clock that tells less than this share of a wait of at least so many milliseconds does not count
// dispatches.
constexpr double least_share = 0.1, shortest_judged = 0.5;
// A slice timed by the program: handing it over to llvmpipe and learning of its end takes a millisecond.
constexpr double waited_milliseconds = 10.0;

constexpr Index four_bytes = 16;
constexpr Index largest_copy = Index{256} << 20, least_copy = Index{1} << 20;
constexpr Index first_copied_slice = Index{4} << 20;
constexpr int copies = 4;                      // the first finds out how long a slice takes
constexpr double enough_milliseconds = 500.0;  // of copying, for software
constexpr double copy_slice_milliseconds = 4.0;
constexpr Index fours_each = 4;  // of a thread

// After waiting for what `submit` submits.
SliceTime time_slice(const std::function<void()>& submit) {
  check_cancelled();
  const auto begun = std::chrono::steady_clock::now();
  const TimerQuery query("slice of a speed measurement");
  submit();
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  glEndQuery(GL_TIME_ELAPSED);
  GLuint64 nanoseconds = 0;
  glGetQueryObjectui64v(query.name(), GL_QUERY_RESULT, &nanoseconds);
  const double waited =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  check_gpu();
  return slice_time(static_cast<double>(nanoseconds) * 1e-6, waited);
}

Error not_measured() {
  return Error(
      ExitStatus::no_display,
      {.where = "gl", .what = "the GPU's speed cannot be measured: it did not compute what it was given"});
}

}  // namespace

SliceTime slice_time(double clocked, double waited) {
  const bool ticks = clocked > 0.0 && (waited < shortest_judged || clocked > waited * least_share);
  return {ticks ? std::min(clocked, waited) : waited, ticks && clocked <= waited};
}

GpuSpeed::GpuSpeed(const GpuLimits& limits)
    : limits_(limits),
      multiply_adds_("multiply_add_peak", {}, {embedded_multiply_add_peak_comp()}),
      sums_("sums of multiply-adds", std::min(most_groups, limits.groups_x)),
      groups_(std::min(fewest_groups, sums_.count())) {}

SliceTime GpuSpeed::time_multiply_adds() {
  multiply_adds_.use();
  multiply_adds_.set("sums_offset", sums_.bind(3, 0, sums_.count(), limits_.offset_alignment));
  multiply_adds_.set_size("rounds", rounds_);
  multiply_adds_.set("factor", -1.0f);
  multiply_adds_.set("term", 1.0f);
  return time_slice([&] { glDispatchCompute(static_cast<GLuint>(groups_), 1, 1); });
}

double GpuSpeed::fma_peak_gflops(double milliseconds) {
  sums_.write(0, std::array{0.0f});
  if (!warm_) time_multiply_adds();  // a driver may still compile
  warm_ = true;
  double best = 0.0;
  for (int slice = 0; slice < slices;) {
    const auto [taken, by_clock] = time_multiply_adds();
    const double flops = round_flops * static_cast<double>(rounds_ * groups_ * group_threads);
    if (taken > 0.0) best = std::max(best, 1e-6 * flops / taken);
    const double wanted = by_clock ? milliseconds : std::max(milliseconds, waited_milliseconds);
    const double growth = wanted / std::max(taken, wanted / fastest_growth);
    const Index rounds_now = groups_ < sums_.count() ? enough_rounds : most_rounds;
    if (growth > 2.0 && (rounds_ < rounds_now || groups_ < sums_.count())) {
      Index& grown = rounds_ < rounds_now ? rounds_ : groups_;
      const Index most = rounds_ < rounds_now ? rounds_now : sums_.count();
      grown = std::min(static_cast<Index>(static_cast<double>(grown) * growth), most);
      best = 0.0;
      continue;
    }
    if (growth < 0.5) {
      Index& shrunk = rounds_ > enough_rounds || groups_ <= fewest_groups ? rounds_ : groups_;
      shrunk = std::max<Index>(1, shrunk / 2);
    }
    ++slice;
  }
  std::array<float, 1> sum{};
  sums_.read(0, sum);
  if (sum[0] != sum_of_first || best == 0.0) throw not_measured();
  return best;
}

double GpuSpeed::copy_gbytes_per_s() {
  const ComputeProgram copy("copy_rate", {}, {embedded_copy_rate_comp()});
  const ComputeProgram fill("fill of copy_rate", {{"FILLS"}}, {embedded_copy_rate_comp()});
  const Index alignment = limits_.offset_alignment;
  StorageBuffer from, to;
  Index bytes = std::min(largest_copy, limits_.storage_block_bytes - alignment) / four_bytes * four_bytes;
  while (!to) {
    try {
      from = StorageBuffer("numbers to copy", bytes / 4);
      to = StorageBuffer("copied numbers", bytes / 4);
    } catch (const Error& error) {
      if (error.status() != ExitStatus::memory || bytes / 2 < least_copy) throw;
      from = StorageBuffer();
      bytes = bytes / 2 / four_bytes * four_bytes;
    }
  }
  const Index fours = bytes / four_bytes;
  // Numbers [first, first + count), in fours.
  const auto dispatch = [&](const ComputeProgram& program, const StorageBuffer& target, Index first,
                            Index count) {
    program.use();
    if (&program == &copy) program.set("from_offset", from.bind(0, 4 * first, 4 * count, alignment) / 4);
    program.set("to_offset", target.bind(3, 4 * first, 4 * count, alignment) / 4);
    program.set_size("first", first);
    program.set_size("count", count);
    const Index each = group_threads * fours_each;
    glDispatchCompute(static_cast<GLuint>(std::min((count + each - 1) / each, limits_.groups_x)), 1, 1);
  };
  Index slice = first_copied_slice / four_bytes;
  const auto each_slice = [&](const auto& submit) {
    double all = 0.0;
    for (Index first = 0; first < fours;) {
      const Index count = std::min(slice, fours - first);
      const auto [taken, by_clock] = time_slice([&] { submit(first, count); });
      if (taken < (by_clock ? copy_slice_milliseconds : waited_milliseconds) / 2) slice *= 2;
      first += count;
      all += taken;
    }
    return all;
  };
  each_slice([&](Index first, Index count) { dispatch(fill, from, first, count); });
  double best = 0.0, all = 0.0;
  for (int i = 0; i < copies && (i < 2 || all < enough_milliseconds); ++i) {
    const double taken = each_slice([&](Index first, Index count) { dispatch(copy, to, first, count); });
    if (taken > 0.0) best = std::max(best, 1e-6 * 2.0 * static_cast<double>(bytes) / taken);
    all += taken;
  }
  for (const Index at : {Index{0}, fours * 2, 4 * fours - 1}) {
    std::array<float, 1> number{};
    to.read(at, number);
    if (std::bit_cast<std::uint32_t>(number[0]) != static_cast<std::uint32_t>(at)) throw not_measured();
  }
  if (best == 0.0) throw not_measured();
  return best;
}

}  // namespace headwise
