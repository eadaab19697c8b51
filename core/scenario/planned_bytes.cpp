// How much memory the inputs and parameters of a plan take.
#include <initializer_list>
#include <string>

#include "core/scenario/scenario_plan.h"
#include "core/scenario/weight_initialisation.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

Index checked_add(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(ExitStatus::memory, {.where = "scenario", .what = "the sizes are beyond any memory"});
  }
  return sum;
}

Index product(std::initializer_list<Index> sizes) {
  Index all = 1;
  for (const Index size : sizes) all = checked_multiply(all, size, "scenario");
  return all;
}

}  // namespace

Index planned_bytes(const ScenarioPlan& plan, const Scenario& scenario, DType dtype) {
  constexpr Index label_bytes = 2 * sizeof(std::string);
  const AttentionOptions& o = plan.options;
  const Index labels =
      checked_multiply(checked_add(plan.query_length, plan.key_length), label_bytes, "labels");
  Index cells = 0;
  if (o.op == Op::scaled_dot_product_attention) {
    cells = product({plan.batch, o.num_heads, plan.query_length, o.head_dim});
    cells = checked_add(cells, product({plan.batch, o.num_kv_heads, plan.key_length, o.head_dim}));
    cells = checked_add(cells, product({plan.batch, o.num_kv_heads, plan.key_length, o.v_head_dim}));
  } else {
    const ProjectionRows rows = projection_rows(o);
    cells = product({plan.batch, plan.query_length, o.embed_dim});
    if (!plan.self_attention) cells = checked_add(cells, product({plan.batch, plan.key_length, o.kdim}));
    if (!plan.self_attention && !plan.value_is_key) {
      cells = checked_add(cells, product({plan.batch, plan.key_length, o.vdim}));
    }
    cells = checked_add(cells, product({rows.q, o.embed_dim}));
    cells = checked_add(cells, product({rows.k, o.kdim}));
    cells = checked_add(cells, product({rows.v, o.vdim}));
    cells = checked_add(cells, product({o.embed_dim, o.num_heads, o.v_head_dim}));
    if (scenario.attention.bias)
      cells = checked_add(cells, checked_add(o.embed_dim, checked_add(rows.q, checked_add(rows.k, rows.v))));
  }
  const auto frozen = static_cast<Index>(o.frozen_heads.size());
  cells = checked_add(cells, product({2, plan.batch, frozen, plan.query_length, plan.all_keys}));
  const Index mask = plan.mask_preset ? product({plan.query_length, plan.masked_keys}) : 0;  // a byte a cell
  const Index bytes = checked_multiply(cells, static_cast<Index>(dtype_bytes(dtype)), "scenario");
  return checked_add(checked_add(bytes, mask), labels);
}

}  // namespace headwise
