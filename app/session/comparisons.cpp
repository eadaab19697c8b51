#include "app/session/comparisons.h"

#include <exception>
#include <optional>

#include "core/answers/operation_counts.h"
#include "core/answers/traced_inputs.h"
#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

// Forward, backward and three projections of this many multiply-adds take about 30 ms on one core of 2020.
constexpr Index multiply_adds_at_once = 3'000'000;

std::shared_ptr<const ComputedComparisons> compare(const TracePtr& trace) {
  auto computed = std::make_shared<ComputedComparisons>();
  computed->trace = trace;
  try {
    std::optional<ProgressPart> part(std::in_place, 0.0, 0.2, "layouts");
    computed->layouts = compare_layouts(*trace);
    part.emplace(0.2, 1.0);
    computed->head_width = compare_head_width(*trace);
  } catch (const std::exception& error) {
    computed->error = error.what();
  }
  return computed;
}

}  // namespace

Comparisons::~Comparisons() {
  stop();
}

void Comparisons::stop() {
  cancelled_ = true;
  if (thread_.joinable()) thread_.join();
  arrived_.reset();
  cancelled_ = false;
}

std::shared_ptr<const ComputedComparisons> Comparisons::of(const TracePtr& trace) {
  if (asked_ == trace) {
    const std::lock_guard lock(mutex_);
    if (arrived_) known_ = std::move(arrived_);
    arrived_.reset();
    return known_;
  }
  stop();
  asked_ = trace;
  known_.reset();
  if (operation_counts(traced_inputs(*trace)).multiply_adds <= multiply_adds_at_once) {
    known_ = compare(trace);
    return known_;
  }
  clock_.begin();
  thread_ = std::thread([this, trace] {
    const CancelScope scope(cancelled_);
    const ProgressScope told(clock_.progress());
    std::shared_ptr<const ComputedComparisons> computed = compare(trace);
    {
      const std::lock_guard lock(mutex_);
      arrived_ = std::move(computed);
    }
    if (wake_) wake_();
  });
  return nullptr;
}

void Comparisons::finish() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace headwise
