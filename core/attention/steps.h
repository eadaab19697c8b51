// The steps of the walk through the operator, and what each one shows.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"

namespace headwise {

enum class Step : std::uint8_t {
  inputs,
  project,
  split_heads,
  scores,
  scale,
  mask,
  softmax,
  weighted_sum,
  concat,
  output,
  // Only with options that ask for them; where they stand among the others: shown_steps
  normalise,
  gate,
  past,
  choose,
};
inline constexpr int step_count = 14;

struct StepEntry {
  Step step;
  std::string_view name;      // in the step bar: "Split heads"
  std::string_view question;  // one line beside the title: "every query meets every key: how alike are they?"
  std::string_view formula;   // in axis letters: "scoresₕ = Qₕ Kₕᵀ"
  std::string_view sentence;  // one or two plain sentences
};

std::span<const StepEntry> step_entries();

// The steps that these options have, in order: with qk_norm "whole" the norm comes before the split.
std::vector<Step> shown_steps(const AttentionOptions& options);
// Where a step is among them, the last if it is none of them.
std::size_t place_of_step(std::span<const Step> shown, Step step);

// The product (or map) that a step shows: result in the corner, left operand left of it, right operand above
// it; above_transposed: the operand above is drawn transposed (kᵀ, Wᵀ).
struct StepPicture {
  TensorId result{};
  std::optional<TensorId> left;
  std::optional<TensorId> above;
  bool above_transposed = false;
  // The rows of `above`, as stored, that are used: W_k is rows [H·D, H·D+G·D) of in_proj_weight. 0, 0: all
  // rows.
  Index above_row_begin = 0, above_row_end = 0;
};

// How `above` is combined with `left`: "·" in a product, else cell by cell, "+", or "⊙ σ" behind a gate.
std::string_view sign_of_above(const StepPicture& picture);

// All pictures of a step that exist in this trace, the main one first (project has q, k and v; split_heads
// q_heads, k_heads, v_heads). In a map that is not a product (scale, mask, softmax, concat …) `left` is the
// tensor it was computed from, and `above` a second one that is combined with it cell by cell (mask_bias).
// Empty if this trace has nothing to show for the step: scaled_dot_product_attention has no project,
// split_heads and concat.
std::vector<StepPicture> step_pictures(Step step, const Trace& trace);
// The first step that computes this tensor; for parameters and masks, the step that reads it. dropped_weights
// belongs to the softmax; residual_output, layer_norm_output and attn_output_weights to the output.
Step step_of(TensorId id, const AttentionOptions& options = {});

}  // namespace headwise
