// How much memory the inputs and parameters of a plan take.
#include <algorithm>
#include <initializer_list>
#include <string>

#include "core/scenario/scenario_plan.h"
#include "core/scenario/weight_initialisation.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

Index checked_add(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(ExitStatus::memory, {.where = "scenario", .what = "the sizes exceed any memory"});
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

Index planned_map_bytes(const ScenarioPlan& plan, DType dtype) {
  return product({plan.batch, plan.options.num_heads, plan.query_length, plan.all_keys,
                  static_cast<Index>(dtype_bytes(dtype))});
}

void require_planned_memory(const ScenarioPlan& plan, const Scenario& scenario, DType dtype,
                            const GivenArrays& given, Index maps) {
  const Index to_make = planned_bytes(plan, scenario, dtype);
  require_memory(to_make, "the inputs and parameters of the scenario");
  if (maps == 0) return;
  Index there = 0, all = 0;
  for (const auto& [name, array] : given) there += static_cast<Index>(array->bytes());
  const Index of_maps = checked_multiply(maps, planned_map_bytes(plan, dtype), "the trace");
  if (__builtin_add_overflow(std::max<Index>(0, to_make - there), of_maps, &all))
    throw Error(ExitStatus::memory, {.where = "the trace", .what = "the sizes exceed any memory"});
  require_memory(all, "the trace");
}

}  // namespace headwise
