#include "core/tensor/cancellation.h"

#include <utility>

#include "core/tensor/error.h"

namespace headwise {
namespace {

thread_local const std::atomic<bool>* cancelled_here = nullptr;

}  // namespace

CancelScope::CancelScope(const std::atomic<bool>* cancelled)
    : outer_(std::exchange(cancelled_here, cancelled)) {}

CancelScope::CancelScope(const std::atomic<bool>& cancelled) : CancelScope(&cancelled) {}

CancelScope::~CancelScope() {
  cancelled_here = outer_;
}

const std::atomic<bool>* watched_cancellation() {
  return cancelled_here;
}

void check_cancelled() {
  if (cancelled_here && cancelled_here->load(std::memory_order_relaxed)) {
    throw Error(ExitStatus::cancelled,
                {.where = "", .what = "cancelled", .got = "", .expected = "", .remedy = ""});
  }
}

}  // namespace headwise
