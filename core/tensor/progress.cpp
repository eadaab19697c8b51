#include "core/tensor/progress.h"

#include <algorithm>
#include <utility>

namespace headwise {
namespace {

thread_local ProgressScope* scope_here = nullptr;

}  // namespace

ProgressScope::ProgressScope(Progress& progress)
    : progress_(progress), outer_(std::exchange(scope_here, this)) {}

ProgressScope::~ProgressScope() {
  scope_here = outer_;
}

ProgressPart::ProgressPart(double from, double to, const char* doing) : scope_(scope_here) {
  if (!scope_) return;
  outer_from_ = scope_->from_;
  outer_to_ = scope_->to_;
  const double span = outer_to_ - outer_from_;
  scope_->from_ = outer_from_ + span * std::clamp(from, 0.0, 1.0);
  scope_->to_ = outer_from_ + span * std::clamp(to, 0.0, 1.0);
  Progress& progress = scope_->progress_;
  if (doing) progress.doing_.store(doing, std::memory_order_relaxed);
  // Only this thread writes.
  if (scope_->from_ > progress.fraction()) progress.fraction_.store(scope_->from_, std::memory_order_relaxed);
}

ProgressPart::~ProgressPart() {
  if (!scope_) return;
  Progress& progress = scope_->progress_;
  if (scope_->to_ > progress.fraction()) progress.fraction_.store(scope_->to_, std::memory_order_relaxed);
  scope_->from_ = outer_from_;
  scope_->to_ = outer_to_;
}

}  // namespace headwise
