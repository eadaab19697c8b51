#include "app/session/comparisons.h"

#include <optional>
#include <utility>

#include "core/answers/operation_counts.h"
#include "core/answers/traced_inputs.h"
#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

// Forward, backward and three projections of this many multiply-adds take about 30 ms on one core of 2020.
constexpr Index multiply_adds_at_once = 3'000'000;

ComputedComparisons compare(const TracePtr& trace) {
  ComputedComparisons computed;
  computed.trace = trace;
  computed.error = error_of([&] {
    std::optional<ProgressPart> part(std::in_place, 0.0, 0.2, "layouts");
    computed.layouts = compare_layouts(*trace);
    part.emplace(0.2, 1.0);
    computed.head_width = compare_head_width(*trace);
  });
  if (!computed.error.empty()) check_cancelled();  // then there is nothing to report
  return computed;
}

bool is_short(const TracePtr& trace) {
  return operation_counts(traced_inputs(*trace)).multiply_adds <= multiply_adds_at_once;
}

}  // namespace

Comparisons::Comparisons(std::function<void()> wake) : work_(compare, std::move(wake), is_short) {}

std::shared_ptr<const ComputedComparisons> Comparisons::of(const TracePtr& trace) {
  const auto outcome = work_.of(trace);
  return outcome ? outcome->answer : nullptr;
}

}  // namespace headwise
