#include "core/answers/head_width_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/answers/one_wide_head.h"
#include "core/answers/traced_inputs.h"
#include "core/attention/heads.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/compare/trace_compare.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

// What acts on each head separately, or after the operator, would blur the comparison.
AttentionInputs plain(AttentionInputs inputs, std::vector<std::string>& left_out) {
  AttentionOptions& o = inputs.options;
  const auto leave_out = [&](bool there, const char* what) {
    if (there) left_out.emplace_back(what);
  };
  leave_out(o.dropout > 0.0, "dropout");
  leave_out(inputs.tensors.head_gain != nullptr, "the head gains");
  leave_out(inputs.tensors.frozen_weights != nullptr, "frozen heads");
  leave_out(o.residual, "the residual");
  leave_out(o.layer_norm, "the layer norm");
  o.dropout = 0.0;
  o.head_gain.clear();
  inputs.tensors.head_gain = nullptr;
  o.frozen_heads.clear();
  inputs.tensors.frozen_weights = nullptr;
  o.residual = o.layer_norm = false;
  return inputs;
}

HeadsCase case_of(const AttentionInputs& inputs) {
  const AttentionOptions options = resolved_options(inputs);
  HeadsCase heads;
  heads.heads = options.num_heads;
  heads.head_dim = options.head_dim;
  heads.v_head_dim = options.v_head_dim;
  heads.scale = score_scale(options).scale;
  heads.parameters = total_parameters(parameter_counts(inputs));
  heads.counts = operation_counts(inputs);
  const auto scores = std::ranges::find(heads.counts.products, TensorId::scores, &ProductCount::result);
  heads.scores_einsum = heads.heads == 1 ? "nlf,nsf->nls" : scores->einsum;
  return heads;
}

// (N,H,L,·) of many heads in the order of the output's columns, as with one head.
TensorPtr output_in_columns(const Trace& trace) {
  const TensorPtr& output = trace.tensors.output;
  if (trace.options.op != Op::scaled_dot_product_attention) return output;
  return std::make_shared<const Tensor>(merge_heads(*output, nullptr, "H·Dv"));
}

// |a − b|; NaN equals NaN and an infinity itself, anything else is infinitely far from them.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0;
  const double difference = std::abs(a - b);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

void compare_maps(HeadWidthComparison& c) {
  const Tensor& many = *c.many.trace->tensors.attn_weights;  // (N,H,L,S′)
  const Tensor& wide = *c.wide.trace->tensors.attn_weights;  // (N,1,L,S′)
  const Tensor& many_scores = *c.many.trace->tensors.scores;
  const Tensor& wide_scores = *c.wide.trace->tensors.scores;
  const Index heads = many.shape().size(1);
  const Index slice = many.shape().size(2) * many.shape().size(3);
  c.map_differences.assign(static_cast<std::size_t>(heads), 0.0);
  for (Index cell = 0; cell < wide.size(); ++cell) {
    double sum = 0.0;
    for (Index h = 0; h < heads; ++h) {
      const Index offset = (cell / slice * heads + h) * slice + cell % slice;
      double& largest = c.map_differences[static_cast<std::size_t>(h)];
      largest = std::max(largest, distance(many.flat(offset), wide.flat(cell)));
      sum += many_scores.flat(offset);
    }
    c.score_sum_difference = std::max(c.score_sum_difference, distance(sum, wide_scores.flat(cell)));
  }
}

void compare_gradients(HeadWidthComparison& c, const AttentionInputs& many) {
  const bool in_heads = many.options.op == Op::scaled_dot_product_attention;
  for (const TensorEntry& entry : tensor_entries()) {
    if (entry.role != TensorRole::input && entry.role != TensorRole::parameter) continue;
    // scaled_dot_product_attention stores its query, key and value as q_heads, k_heads, v_heads.
    const TensorId kept = !in_heads                     ? entry.id
                          : entry.id == TensorId::query ? TensorId::q_heads
                          : entry.id == TensorId::key   ? TensorId::k_heads
                          : entry.id == TensorId::value ? TensorId::v_heads
                                                        : entry.id;
    const TensorPtr ours = c.many.trace->tensor(TensorName{kept, true});
    const TensorPtr wide = gradient_of_many(entry.id, c.wide.trace->tensor(TensorName{kept, true}), many);
    if (ours && wide)
      c.gradients.push_back({entry.id, largest_difference(*ours, *wide), largest_magnitude(*ours)});
  }
}

std::string why_they_coincide(const HeadWidthComparison& c, Index keys) {
  if (c.many.heads == 1) return "there is only one head";
  if (keys == 0) return "there is no key";
  if (keys == 1) return "there is a single key: every softmax gives it weight 1";
  const double maps = *std::ranges::max_element(c.map_differences);
  if (maps <= default_tolerance(c.many.trace->dtype, c.many.trace->dtype))
    return "every head has the same attention weights as the wide head";
  return "the weighted sums of the values are equal";
}

std::vector<std::string> in_words(const HeadWidthComparison& c, Index keys) {
  const std::string names = fmt::format("{} heads of {} and one head of {}", c.many.heads, c.many.head_dim,
                                        c.many.heads * c.many.head_dim);
  if (!c.possible()) return {fmt::format("{} cannot be compared here: {}.", names, c.not_possible)};
  std::vector<std::string> sentences;
  if (c.coincide) {
    sentences.push_back(fmt::format("Here {} give the same output, max |Δ| {:.2g}: {}.", names,
                                    c.output.difference, why_they_coincide(c, keys)));
  } else {
    const double maps = *std::ranges::max_element(c.map_differences);
    const auto gradient = std::ranges::max_element(c.gradients, {}, [](const TensorDistance& d) {
      return d.magnitude > 0.0 ? d.difference / d.magnitude : 0.0;
    });
    sentences.push_back(fmt::format(
        "No: {} on the same parameters differ by up to {:.3g} in the output (the largest is "
        "{:.3g}) and {:.3g} "
        "in the attention weights{}.",
        names, c.output.difference, c.output.magnitude, maps,
        gradient == c.gradients.end() ? ""
                                      : fmt::format(", and grad.{} by up to {:.3g}",
                                                    tensor_entry(gradient->tensor).name, gradient->difference)));
    sentences.push_back(fmt::format(
        "Why: the wide head's scores are the sum of the heads' scores (to rounding: max |Δ| {:.2g}), added "
        "up before its one softmax; {} heads take {} softmaxes and can attend to {} places.",
        c.score_sum_difference, c.many.heads, c.many.heads, c.many.heads));
  }
  sentences.push_back(fmt::format(
      "Parameters {}{}, multiply-adds {}{}; exponentials {} against {}.", count_text(c.many.parameters),
      c.many.parameters == c.wide.parameters ? " for both" : " against " + count_text(c.wide.parameters),
      count_text(c.many.counts.multiply_adds),
      c.many.counts.multiply_adds == c.wide.counts.multiply_adds
          ? " for both"
          : " against " + count_text(c.wide.counts.multiply_adds),
      count_text(c.many.counts.exponentials), count_text(c.wide.counts.exponentials)));
  for (const std::string& note : c.notes) sentences.push_back("Note: " + note + ".");
  if (!c.left_out.empty()) sentences.push_back(fmt::format("Both without {}.", join(c.left_out, ", ")));
  return sentences;
}

}  // namespace

HeadWidthComparison compare_head_width(const Trace& trace) {
  HeadWidthComparison c;
  const AttentionInputs many = plain(traced_inputs(trace), c.left_out);
  const WideHead wide = one_wide_head(many);
  c.many = case_of(many);
  c.not_possible = wide.not_possible;
  c.notes = wide.notes;
  const Index keys = attention_sizes(many).all_keys;
  if (!c.possible()) {
    c.sentences = in_words(c, keys);
    return c;
  }
  require_memory(head_width_bytes(trace), "comparing many heads with one");
  c.wide = case_of(wide.inputs);
  const auto both_ways = [](const AttentionInputs& inputs, const Trace* before, Index which) {
    TracePtr forward;
    {
      const ProgressPart part = slice_of_work(2 * which, 4);
      forward = reference_forward(inputs, before);
    }
    const ProgressPart part = slice_of_work(2 * which + 1, 4);
    return reference_backward(*forward);
  };
  c.many.trace = both_ways(many, &trace, 0);
  c.wide.trace = both_ways(wide.inputs, nullptr, 1);

  const TensorPtr many_output = output_in_columns(*c.many.trace);
  const TensorPtr wide_output = output_in_columns(*c.wide.trace);
  c.output = {TensorId::output, largest_difference(*many_output, *wide_output),
              largest_magnitude(*many_output)};
  compare_maps(c);
  compare_gradients(c, many);
  const double tolerance = default_tolerance(trace.dtype, trace.dtype);
  c.coincide = c.output.difference <= tolerance * std::max(c.output.magnitude, 1e-30);
  c.sentences = in_words(c, keys);
  return c;
}

Index head_width_bytes(const Trace& trace) {
  std::vector<std::string> unused;
  const AttentionInputs many = plain(traced_inputs(trace), unused);
  const Index forward = checked_multiply(2, reference_trace_bytes(many), "the comparison");  // both sides
  return checked_multiply(2, forward, "the comparison");                                     // and gradients
}

}  // namespace headwise
