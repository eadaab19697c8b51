#include "core/reference/forward_pass.h"

#include "core/attention/heads.h"
#include "core/attention/in_projection.h"

namespace headwise {
namespace {

// The product as `fill` writes it into the given tensor. Null if the earlier one had another shape: appended
// rows, which are not part of a product, may have been added to it.
TensorPtr product_from(const TensorPtr& before, const Shape& shape,
                       const std::function<ProductChange(Tensor& out)>& fill) {
  if (before->dtype() != DType::f64 || before->shape() != shape) return nullptr;
  Tensor out = Tensor::unwritten(shape, DType::f64);
  switch (fill(out)) {
    case ProductChange::none:
      return before;
    case ProductChange::some:
      return std::make_shared<const Tensor>(std::move(out));
    case ProductChange::most:
      break;
  }
  return nullptr;
}

}  // namespace

StageCache::Update update_linear(const TensorPtr& x, const LinearRows& rows, Shape shape,
                                 EarlierRows earlier_rows) {
  return [x, rows, shape = std::move(shape), earlier_rows = std::move(earlier_rows)](
             const StageKey& earlier, const TensorPtr& before) -> TensorPtr {
    const std::optional<LinearRows> earlier_weights = earlier_rows(earlier);
    if (!earlier_weights) return nullptr;
    return product_from(before, shape, [&](Tensor& y) {
      return incremental_linear(*x, rows, {*earlier.sources[0], *earlier_weights, *before}, y);
    });
  };
}

StageCache::Update update_heads(const TensorPtr& left, const TensorPtr& right, Shape shape,
                                IncrementalHeads product) {
  return [left, right, shape = std::move(shape), product](const StageKey& earlier, const TensorPtr& before) {
    return product_from(before, shape, [&](Tensor& out) {
      return product(*left, *right, {*earlier.sources[0], *earlier.sources[1], *before}, out);
    });
  };
}

namespace {

using Id = TensorId;

// One of q, k and v: what it is computed from, and its own axis.
struct Projected {
  Id id;
  TensorPtr x, own_weight;          // own_weight: null if the weights are packed
  TensorPtr replacement, bias_row;  // static_k and bias_k, or static_v and bias_v; null for q
  Axis positions, width;
};

Projected projected(const TraceTensors& t, const AttentionSizes& s, Projection which) {
  switch (which) {
    case Projection::k:
      return {Id::k,
              t.key,
              t.k_proj_weight,
              t.static_k,
              t.bias_k,
              {"S", s.keys},
              {"G·D", s.kv_heads * s.head_dim}};
    case Projection::v:
      return {Id::v,
              t.value,
              t.v_proj_weight,
              t.static_v,
              t.bias_v,
              {"S", s.keys},
              {"G·Dv", s.kv_heads * s.v_head_dim}};
    case Projection::q:
      break;
  }
  return {Id::q, t.query, t.q_proj_weight, nullptr, nullptr, {"L", s.queries}, {"H·D", s.heads * s.head_dim}};
}

}  // namespace

void input_projection(ForwardPass& pass, Projection which) {
  const TraceTensors& t = pass.tensors;
  const AttentionOptions& options = pass.options;
  const AttentionSizes& s = pass.sizes;
  const Projected p = projected(t, s, which);
  const Shape shape{{"N", s.batch}, p.positions, p.width};
  const bool appends = which != Projection::q && s.all_keys != s.keys;
  const auto rows_of = [&options, which](const TensorPtr& packed, const TensorPtr& own, const TensorPtr& bias) {
    return in_projection_rows(which, options, packed.get(), own.get(), bias.get());
  };

  const std::vector<double> choices =
      stage_choices(s.heads, s.kv_heads, s.head_dim, s.v_head_dim, options.add_zero_attn);
  std::vector<TensorPtr> sources{p.replacement, p.bias_row};
  if (!p.replacement) sources = {p.x, t.in_proj_weight, p.own_weight, t.in_proj_bias, p.bias_row};
  const auto compute = [&] {
    Tensor rows = p.replacement ? merge_heads(*p.replacement, nullptr, p.width.name.c_str())
                                : linear(*p.x, rows_of(t.in_proj_weight, p.own_weight, t.in_proj_bias), shape);
    if (!appends) return rows;
    return append_rows(rows, p.bias_row.get(), options.add_zero_attn);
  };
  StageCache::Update update;
  if (!p.replacement && !appends) {  // appended rows are not part of a product
    const auto earlier_rows = [&](const StageKey& earlier) -> std::optional<LinearRows> {
      const auto& from = earlier.sources;
      const bool same_layout = from.size() == sources.size() && from[0] && !from[1] == !t.in_proj_weight &&
                               !from[2] == !p.own_weight;
      if (!same_layout || earlier.choices != choices) return std::nullopt;
      return rows_of(from[1], from[2], from[3]);
    };
    update = update_linear(p.x, rows_of(t.in_proj_weight, p.own_weight, t.in_proj_bias), shape, earlier_rows);
  }
  pass.cache.stage(p.id, sources, compute, choices, update);
}

}  // namespace headwise
