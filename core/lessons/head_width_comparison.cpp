#include "core/lessons/head_width_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_scale.h"
#include "core/compare/trace_compare.h"
#include "core/lessons/traced_inputs.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Adjacent numbers of a parameter: `groups` blocks, each of which occurs `times` times in the wide head's.
struct Segment {
  Index groups = 1, block = 0, times = 1;
};

// How a parameter is split; empty if the wide head uses it unchanged.
std::vector<Segment> segments_of(TensorId id, const AttentionOptions& o) {
  const Index times = o.num_heads / o.num_kv_heads;
  if (times == 1) return {};
  const auto rows = [&](Index inner) {  // of q, k and v, stacked
    return std::vector<Segment>{{1, o.num_heads * o.head_dim * inner, 1},
                                {o.num_kv_heads, o.head_dim * inner, times},
                                {o.num_kv_heads, o.v_head_dim * inner, times}};
  };
  switch (id) {
    case TensorId::in_proj_weight:
      return rows(o.embed_dim);
    case TensorId::in_proj_bias:
      return rows(1);
    case TensorId::k_proj_weight:
      return {{o.num_kv_heads, o.head_dim * o.kdim, times}};
    case TensorId::v_proj_weight:
      return {{o.num_kv_heads, o.v_head_dim * o.vdim, times}};
    case TensorId::bias_k:
      return {{o.num_kv_heads, o.head_dim, times}};
    case TensorId::bias_v:
      return {{o.num_kv_heads, o.v_head_dim, times}};
    default:
      return {};
  }
}

Index size_of(const std::vector<Segment>& segments) {
  Index size = 0;
  for (const Segment& s : segments) size += s.groups * s.block * s.times;
  return size;
}

// Calls visit(small offset, wide offset) for every number of the wide array.
template <class Visit>
void visit_copies(const std::vector<Segment>& segments, Visit&& visit) {
  Index small = 0, wide = 0;
  for (const Segment& s : segments) {
    for (Index group = 0; group < s.groups; ++group, small += s.block) {
      for (Index copy = 0; copy < s.times; ++copy)
        for (Index i = 0; i < s.block; ++i) visit(small + i, wide++);
    }
  }
}

TensorPtr repeated(const TensorPtr& tensor, const std::vector<Segment>& segments) {
  if (!tensor || segments.empty()) return tensor;
  std::vector<Axis> axes = tensor->shape().axes();
  const Index inner = axes.size() == 2 ? axes[1].size : 1;
  axes[0].size = size_of(segments) / inner;
  Tensor wide(Shape(std::move(axes)), tensor->dtype());
  visit_copies(segments, [&](Index from, Index to) { wide.set_flat(to, tensor->flat(from)); });
  return std::make_shared<const Tensor>(std::move(wide));
}

TensorPtr summed(const TensorPtr& wide, const std::vector<Segment>& segments, const Shape& like) {
  std::vector<double> sums(static_cast<std::size_t>(like.element_count()), 0.0);
  visit_copies(segments, [&](Index to, Index from) { sums[static_cast<std::size_t>(to)] += wide->flat(from); });
  return std::make_shared<const Tensor>(Tensor(like, std::move(sums)).converted(wide->dtype()));
}

// (N,H,T,W), or (N,G,T,W) with each head repeated, → (N,1,T,H·W): the heads' columns side by side.
TensorPtr side_by_side(const TensorPtr& x, Index heads) {
  if (!x) return x;
  const Tensor joined = merge_heads(x->shape().size(1) == heads ? *x : repeat_kv(*x, heads), nullptr, "H·D");
  std::vector<Axis> axes = joined.shape().axes();
  axes.insert(axes.begin() + 1, {"H", 1});
  return std::make_shared<const Tensor>(joined.reshaped(Shape(std::move(axes))));
}

// The inverse: (N,1,T,H·W) → `like`, copies summed.
TensorPtr heads_apart(const TensorPtr& wide, Index heads, const Shape& like) {
  const Shape& shape = wide->shape();
  const Tensor joined = wide->reshaped(Shape{shape.axes()[0], shape.axes()[2], shape.axes()[3]});
  Tensor apart = split_heads(joined, heads, "H", "D");  // (N,H,T,W)
  const Index groups = like.size(1), times = heads / groups, slice = like.size(2) * like.size(3);
  if (times == 1) return std::make_shared<const Tensor>(std::move(apart));
  return summed(std::make_shared<const Tensor>(std::move(apart)), {{like.size(0) * groups, slice, times}},
                like);
}

// attn_mask without its axis of heads, if all heads have the same; null if they differ.
TensorPtr mask_of_all_heads(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TensorPtr& mask = inputs.tensors.attn_mask;
  const auto view = view_attn_mask(inputs.options.op, mask->shape(), s.batch, s.heads, s.queries, s.keys);
  if (view->step_h == 0) return mask;
  std::vector<Axis> axes{{"N", s.batch}, {"L", s.queries}, {"S", view->keys}};
  if (inputs.options.op == Op::scaled_dot_product_attention) axes.insert(axes.begin() + 1, {"1", 1});
  Tensor one(Shape(std::move(axes)), mask->dtype());
  Index cell = 0;
  for (Index n = 0; n < s.batch; ++n) {
    for (Index l = 0; l < s.queries; ++l) {
      for (Index key = 0; key < view->keys; ++key) {
        const Index first = n * view->step_n + l * view->step_l + key * view->step_s;
        for (Index h = 1; h < s.heads; ++h)
          if (mask->flat(first + h * view->step_h) != mask->flat(first)) return nullptr;
        one.set_flat(cell++, mask->flat(first));
      }
    }
  }
  return std::make_shared<const Tensor>(std::move(one));
}

// What acts on each head separately, or after the operator, would blur the comparison.
AttentionInputs without_extras(AttentionInputs inputs, std::vector<std::string>& left_out) {
  AttentionOptions& o = inputs.options;
  const auto leave_out = [&](bool there, const char* what) {
    if (there) left_out.emplace_back(what);
  };
  leave_out(o.dropout > 0.0, "dropout");
  leave_out(inputs.tensors.head_gain != nullptr, "the head gains");
  leave_out(inputs.tensors.frozen_weights != nullptr, "frozen heads");
  leave_out(o.output_gate, "the output gate");
  leave_out(o.residual, "the residual");
  leave_out(o.layer_norm, "the layer norm");
  leave_out(o.qk_norm.has_value(), "the norms of q and k");
  leave_out(inputs.tensors.sinks || !o.sink.empty(), "the sinks");
  leave_out(o.relative_bias.has_value(), "the relative bias");
  leave_out(o.indexer.has_value(), "the indexer");
  o.dropout = 0.0;
  o.head_gain.clear();
  inputs.tensors.head_gain = nullptr;
  o.frozen_heads.clear();
  inputs.tensors.frozen_weights = nullptr;
  o.output_gate = o.residual = o.layer_norm = false;
  inputs.tensors.output_gate_weight = inputs.tensors.output_gate_bias = nullptr;
  o.qk_norm.reset();
  inputs.tensors.q_norm_weight = inputs.tensors.k_norm_weight = nullptr;
  o.sink.clear();
  inputs.tensors.sinks = nullptr;
  o.relative_bias.reset();
  inputs.tensors.relative_bias_weight = nullptr;
  o.indexer.reset();
  for (const TensorEntry& entry : tensor_entries())
    if (is_of_indexer(entry.id)) inputs.tensors.*(entry.member) = nullptr;
  return inputs;
}

HeadsCase case_of(const AttentionInputs& inputs) {
  const AttentionOptions options = resolved_options(inputs);
  HeadsCase heads;
  heads.heads = options.num_heads;
  heads.head_dim = options.head_dim;
  heads.v_head_dim = options.v_head_dim;
  heads.scale = attention_scale(options);
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

std::string coincidence_reason(const HeadWidthComparison& c, Index keys) {
  if (c.many.heads == 1) return "there is only one head";
  if (keys == 0) return "there is no key";
  if (keys == 1) return "there is a single key: every softmax gives it weight 1";
  const double maps = *std::ranges::max_element(c.map_differences);
  if (maps <= default_tolerance(c.many.trace->dtype, c.many.trace->dtype))
    return "every head has the same attention weights as the wide head";
  return "the weighted sums of the values are equal";
}

std::vector<std::string> width_comparison_words(const HeadWidthComparison& c, Index keys) {
  const std::string names = fmt::format("{} heads of {} and one head of {}", c.many.heads, c.many.head_dim,
                                        c.many.heads * c.many.head_dim);
  if (!c.possible()) return {fmt::format("{} cannot be compared here: {}.", names, c.impossible_reason)};
  std::vector<std::string> sentences;
  if (c.coincide) {
    sentences.push_back(fmt::format("Here {} give the same output, max |Δ| {:.2g}: {}.", names,
                                    c.output.difference, coincidence_reason(c, keys)));
  } else {
    const double maps = *std::ranges::max_element(c.map_differences);
    const auto gradient = std::ranges::max_element(c.gradients, {}, [](const TensorDistance& d) {
      return d.magnitude > 0.0 ? d.difference / d.magnitude : 0.0;
    });
    sentences.push_back(fmt::format(
        "No: {} on the same parameters differ by up to {:.3g} in the output (the largest is {:.3g}) and "
        "{:.3g} in the attention weights{}.",
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

WideHead one_wide_head(const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  const AttentionOptions o = resolved_options(inputs);
  WideHead wide;
  wide.inputs = inputs;
  if (is_latent(o)) {
    wide.impossible_reason =
        "each head makes its keys and values of one latent, and a wide head would make other ones of it";
    return wide;
  }
  AttentionOptions& wide_options = wide.inputs.options;
  TraceTensors& t = wide.inputs.tensors;
  wide_options.head_dim = s.heads * s.head_dim;
  wide_options.v_head_dim = s.heads * s.v_head_dim;
  wide_options.num_heads = wide_options.num_kv_heads = 1;
  wide_options.head_gain.clear();
  wide_options.dropout = 0.0;
  t.head_gain = nullptr;
  wide_options.frozen_heads.clear();
  t.frozen_weights = nullptr;
  if (has_rotary_embedding(o) && s.heads > 1) {
    wide.impossible_reason =
        "rotary position embedding rotates pairs of columns within each head, and one wide head pairs "
        "different columns";
    return wide;
  }
  if (t.past_key && s.heads > 1) {
    wide.impossible_reason = "the keys of a cache are kept by heads, and one wide head has other keys";
    return wide;
  }
  if (o.qk_norm && s.heads > 1 && (o.qk_norm != QkNorm::whole || s.kv_heads != s.heads)) {
    wide.impossible_reason =
        "QK-norm gives the rows of each head the same length, and one wide head has one row for all";
    return wide;
  }
  if (t.attn_mask) {
    t.attn_mask = mask_of_all_heads(inputs, s);
    if (!t.attn_mask) {
      wide.impossible_reason = fmt::format(
          "attn_mask blocks different keys in different heads, and one head cannot have {} masks", s.heads);
      return wide;
    }
  }
  if (o.op == Op::scaled_dot_product_attention) {
    t.query = side_by_side(t.query, s.heads);
    t.key = side_by_side(t.key, s.heads);
    t.value = side_by_side(t.value, s.heads);
  } else {
    t.static_k = side_by_side(t.static_k, s.heads);
    t.static_v = side_by_side(t.static_v, s.heads);
    for (const TensorId id : {TensorId::in_proj_weight, TensorId::in_proj_bias, TensorId::k_proj_weight,
                              TensorId::v_proj_weight, TensorId::bias_k, TensorId::bias_v}) {
      TensorPtr& tensor = t.*(tensor_entry(id).member);
      tensor = repeated(tensor, segments_of(id, o));
    }
  }
  if (s.kv_heads != s.heads)
    wide.notes.push_back(fmt::format(
        "{} key/value heads serve {} query heads: one wide head needs each of them {} times, side by side",
        s.kv_heads, s.heads, s.heads / s.kv_heads));
  if (o.alibi && s.heads > 1)
    wide.notes.emplace_back("ALiBi gives each head its own slope; one head has a single slope");
  return wide;
}

TensorPtr gradient_of_many(TensorId id, const TensorPtr& wide_gradient, const AttentionInputs& many) {
  const TensorPtr& tensor = many.tensors.*(tensor_entry(id).member);
  if (!wide_gradient || !tensor) return nullptr;
  const AttentionSizes s = attention_sizes(many);
  const Shape& like = tensor->shape();
  if (like.rank() == 4 && id != TensorId::attn_mask) return heads_apart(wide_gradient, s.heads, like);
  const std::vector<Segment> segments = segments_of(id, resolved_options(many));
  if (!segments.empty()) return summed(wide_gradient, segments, like);
  return like.same_sizes(wide_gradient->shape()) ? wide_gradient : nullptr;
}

HeadWidthComparison compare_head_width(const Trace& trace) {
  HeadWidthComparison c;
  const AttentionInputs many = without_extras(traced_inputs(trace), c.left_out);
  const WideHead wide = one_wide_head(many);
  c.many = case_of(many);
  c.impossible_reason = wide.impossible_reason;
  c.notes = wide.notes;
  const Index keys = attention_sizes(many).all_keys;
  if (!c.possible()) {
    c.sentences = width_comparison_words(c, keys);
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
  c.sentences = width_comparison_words(c, keys);
  return c;
}

Index head_width_bytes(const Trace& trace) {
  std::vector<std::string> unused;
  const AttentionInputs many = without_extras(traced_inputs(trace), unused);
  const Index forward = checked_multiply(2, reference_trace_bytes(many), "the comparison");  // both sides
  return checked_multiply(2, forward, "the comparison");                                     // and gradients
}

}  // namespace headwise
