#include "core/answers/one_wide_head.h"

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/rotary_embedding.h"
#include "core/trace/attention_sizes.h"

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
      for (Index copy = 0; copy < s.times; ++copy) {
        for (Index i = 0; i < s.block; ++i) visit(small + i, wide++);
      }
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
        for (Index h = 1; h < s.heads; ++h) {
          if (mask->flat(first + h * view->step_h) != mask->flat(first)) return nullptr;
        }
        one.set_flat(cell++, mask->flat(first));
      }
    }
  }
  return std::make_shared<const Tensor>(std::move(one));
}

}  // namespace

WideHead one_wide_head(const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  const AttentionOptions o = resolved_options(inputs);
  WideHead wide;
  wide.inputs = inputs;
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
    wide.not_possible =
        "rotary position embedding rotates pairs of columns within each head, and one wide head pairs "
        "different columns";
    return wide;
  }
  if (t.attn_mask) {
    t.attn_mask = mask_of_all_heads(inputs, s);
    if (!t.attn_mask) {
      wide.not_possible = fmt::format(
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
  if (s.kv_heads != s.heads) {
    wide.notes.push_back(fmt::format(
        "{} key/value heads serve {} query heads: one wide head needs each of them {} times, side by side",
        s.kv_heads, s.heads, s.heads / s.kv_heads));
  }
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

}  // namespace headwise
