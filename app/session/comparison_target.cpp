#include "app/session/comparison_target.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/attention/score_scale.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/traced_inputs.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr const char* too_large =
    "the other side does not fit in memory: make the text, embed_dim or batch smaller";

ComparisonTarget wide_head(const Computation& present) {
  const AttentionInputs many = traced_inputs(*present.trace);
  WideHead wide = one_wide_head(many);
  ComparisonTarget side;
  side.name = fmt::format("1 head of {}", many.options.num_heads * many.options.head_dim);
  if (!wide.impossible_reason.empty()) {
    side.why = wide.impossible_reason;
    return side;
  }
  side.notes = std::move(wide.notes);
  std::vector<std::string> left_out;
  if (many.options.dropout > 0) left_out.emplace_back("dropout");
  if (many.tensors.head_gain) left_out.emplace_back("head gains");
  if (many.tensors.frozen_weights) left_out.emplace_back("frozen heads");
  if (!left_out.empty())
    side.notes.push_back(fmt::format("The wide head is computed without {}.", join(left_out, " and ")));
  auto computation = std::make_shared<Computation>();
  computation->scenario = present.scenario;
  computation->inputs = present.inputs;
  computation->trace = reference_forward(wide.inputs, present.trace.get());
  computation->inputs.attention = std::move(wide.inputs);
  side.computation = std::move(computation);
  return side;
}

ComparisonTarget layout(const Computation& present, ProjectionLayout layout, std::string name) {
  ComparisonTarget side;
  side.name = std::move(name);
  if (present.scenario.op == Op::scaled_dot_product_attention) {
    side.why = "scaled_dot_product_attention has no input projection: there is no layout to change";
    return side;
  }
  if (is_latent(present.scenario.op)) {
    side.why =
        "multi_head_latent_attention makes keys and values of a latent: it has no in_proj to store otherwise";
    return side;
  }
  Scenario scenario = present.scenario;
  if (scenario.parameters.layout == layout) {
    side.notes.emplace_back(
        "in_proj already has this layout, so both sides are the same. Choose another layout.");
  }
  scenario.parameters.layout = layout;
  side.computation = compute(scenario, &present);
  return side;
}

ComparisonTarget scale(const Computation& present) {
  ComparisonTarget side;
  Scenario scenario = present.scenario;
  const AttentionOptions& options = present.trace->options;
  const bool scaled = attention_scale(options) != 1.0;
  scenario.attention.scale.reset();
  if (scaled) scenario.attention.scale = 1.0;
  side.name = scaled ? "without the scale" : fmt::format("with the scale {:.4g}", derived_scale(options));
  side.computation = compute(scenario, &present);
  return side;
}

ComparisonTarget mask(const Computation& present) {
  ComparisonTarget side;
  Scenario scenario = present.scenario;
  if (!present.trace->tensors.mask_bias) {
    side.name = "with the causal mask";
    scenario.mask.is_causal = true;
    side.computation = compute(scenario, &present);
    return side;
  }
  side.name = "without a mask";
  MaskSpec none;
  none.value = scenario.mask.value;
  none.fully_masked_rows = scenario.mask.fully_masked_rows;
  scenario.mask = none;
  std::erase_if(scenario.edits, [](const CellEdit& edit) {
    return edit.tensor == "attn_mask" || edit.tensor == "key_padding_mask" || edit.tensor == "valid_lens";
  });
  side.computation = compute(scenario, &present);
  if (side.computation->trace->tensors.mask_bias)
    side.notes.emplace_back("A mask from the inputs' file stays on both sides.");
  return side;
}

ComparisonTarget made(const Computation& present, CompareWith with) {
  switch (with) {
    case CompareWith::pinned:
      break;
    case CompareWith::one_wide_head:
      return wide_head(present);
    case CompareWith::packed:
      return layout(present, ProjectionLayout::packed, "packed");
    case CompareWith::separate:
      return layout(present, ProjectionLayout::separate, "three matrices");
    case CompareWith::per_head:
      return layout(present, ProjectionLayout::per_head, "3·H small matrices");
    case CompareWith::scale:
      return scale(present);
    case CompareWith::mask:
      return mask(present);
  }
  return {};
}

}  // namespace

ComparisonTarget comparison_target(const Computation& present, CompareWith with) {
  ComparisonTarget side;
  std::string why = error_of([&] { side = made(present, with); }, too_large);
  if (why.empty()) return side;
  side = {};
  side.why = std::move(why);
  side.name = compare_with_names[static_cast<std::size_t>(with)];
  return side;
}

ComparisonTargets::ComparisonTargets(std::function<void()> wake)
    : work_(
          [](const Wanted& wanted) {
            ComparisonTarget side = comparison_target(*wanted.present, wanted.with);
            check_cancelled();  // a cancelled computation is not a side
            return side;
          },
          std::move(wake), [](const Wanted& wanted) { return computes_at_once(wanted.present->scenario); }) {}

ComparisonTargetPtr ComparisonTargets::of(const ComputationPtr& present, CompareWith with) {
  if (with == CompareWith::pinned) {
    work_.suspend();
    ComparisonTarget side{pinned_, "pinned", "", {}};
    if (!pinned_) side.why = "nothing is pinned yet";
    return std::make_shared<const ComparisonTarget>(std::move(side));
  }
  const auto outcome = work_.of({present, with});
  return outcome ? outcome->answer : nullptr;
}

namespace {

// Forward, backward and three projections of this many multiply-adds take about 30 ms on one core of 2020.
constexpr Index compared_at_once = 3'000'000;

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
  return operation_counts(traced_inputs(*trace)).multiply_adds <= compared_at_once;
}

}  // namespace

Comparisons::Comparisons(std::function<void()> wake) : work_(compare, std::move(wake), is_short) {}

std::shared_ptr<const ComputedComparisons> Comparisons::of(const TracePtr& trace) {
  const auto outcome = work_.of(trace);
  return outcome ? outcome->answer : nullptr;
}

}  // namespace headwise
