#include "core/scenario/cell_edits.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/scenario/weight_initialisation.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

[[noreturn]] void refuse(std::size_t number, const CellEdit& edit, const std::string& what,
                         const std::string& got, const std::string& expected, const std::string& remedy = {}) {
  throw Error(ExitStatus::usage, {.where = fmt::format("edits[{}]: {}", number, edit.tensor),
                                  .what = what,
                                  .got = got,
                                  .expected = expected,
                                  .remedy = remedy});
}

std::string index_text(const std::vector<Index>& index) {
  return fmt::format("[{}]", join(index, ","));
}

TensorId projection_id(Projection which) {
  return which == Projection::q   ? TensorId::q_proj_weight
         : which == Projection::k ? TensorId::k_proj_weight
                                  : TensorId::v_proj_weight;
}

// Converts between a row of the packed matrix and a row of one of the three.
void to_present_layout(TensorId& id, std::vector<Index>& index, const ScenarioPlan& plan) {
  if (index.size() != 2) return;
  const ProjectionRows rows = projection_rows(plan.options);
  const std::array<Index, 4> first{0, rows.q, rows.q + rows.k, rows.q + rows.k + rows.v};
  for (const Projection which : {Projection::q, Projection::k, Projection::v}) {
    const auto part = static_cast<std::size_t>(which);
    if (plan.packed && id == projection_id(which) && index[0] < first[part + 1] - first[part]) {
      id = TensorId::in_proj_weight;
      index[0] += first[part];
      return;
    }
    if (!plan.packed && id == TensorId::in_proj_weight && index[0] >= first[part] &&
        index[0] < first[part + 1]) {
      id = projection_id(which);
      index[0] -= first[part];
      return;
    }
  }
}

// The inputs of scaled_dot_product_attention are what multi_head_attention calls q_heads,
// k_heads and v_heads.
TensorId input_of_heads(TensorId id) {
  return id == TensorId::q_heads   ? TensorId::query
         : id == TensorId::k_heads ? TensorId::key
         : id == TensorId::v_heads ? TensorId::value
                                   : id;
}

// A mask that blocks nothing.
Tensor empty_mask(TensorId id, std::size_t rank, const ScenarioPlan& plan) {
  const AttentionOptions& o = plan.options;
  if (id == TensorId::key_padding_mask)
    return Tensor({{"N", plan.batch}, {key_axis_name(plan.past > 0, false), plan.masked_keys}}, DType::boolean);
  const bool sdpa = o.op == Op::scaled_dot_product_attention;
  std::vector<Axis> axes{{"L", plan.query_length}, {key_axis_name(plan.past > 0, false), plan.masked_keys}};
  if (rank == 3 && !sdpa)
    axes.insert(axes.begin(), {"N·H", checked_multiply(plan.batch, o.num_heads, "attn_mask")});
  if (rank == 3 && sdpa) axes.insert(axes.begin(), {"H", o.num_heads});
  if (rank == 4 && sdpa) axes.insert(axes.begin(), {{"N", plan.batch}, {"H", o.num_heads}});
  Tensor mask(Shape(std::move(axes)), DType::boolean);
  if (sdpa) std::ranges::fill(mask.values<std::uint8_t>(), std::uint8_t{1});  // in SDPA True takes part
  return mask;
}

void set_cell(Tensor& tensor, std::size_t number, const CellEdit& edit, const std::vector<Index>& index) {
  const Shape& shape = tensor.shape();
  bool inside = static_cast<Index>(index.size()) == shape.rank();
  for (std::size_t axis = 0; inside && axis < index.size(); ++axis)
    inside = index[axis] >= 0 && index[axis] < shape.size(static_cast<Index>(axis));
  if (!inside)
    refuse(number, edit, "the index is out of range", index_text(edit.index), "a cell of " + shape.to_string());
  const double value = edit.value;
  if (tensor.dtype() == DType::boolean && value != 0.0 && value != 1.0)
    refuse(number, edit, "the mask is boolean", fmt::format("{}", value), "0 or 1");
  if (tensor.dtype() == DType::i64 && !(value >= 0.0 && value <= 1e15 && value == std::floor(value)))
    refuse(number, edit, "these are lengths", fmt::format("{}", value), "an integer of at least 0");
  if (tensor.dtype() == DType::f32 && std::isfinite(value) &&
      std::abs(value) > std::numeric_limits<float>::max()) {
    refuse(number, edit, "beyond f32", fmt::format("{}", value), "at most ±3.4e38", "use --dtype f64");
  }
  tensor.set_flat(shape.offset(index), value);
}

// One edit with the tensor that it now refers to.
struct Placed {
  std::size_t number;
  std::vector<Index> index;
};

TensorId target_of(std::size_t number, const CellEdit& edit, const ScenarioPlan& plan,
                   std::vector<Index>& index) {
  const auto name = find_tensor_name(edit.tensor);
  if (!name)
    refuse(number, edit, "there is no tensor of this name", "", "",
           suggestion(nearest_tensor_name(edit.tensor)));
  TensorId id = name->id;
  if (plan.options.op == Op::scaled_dot_product_attention) id = input_of_heads(id);
  const bool given =
      plan.options.op == Op::scaled_dot_product_attention && is_given_to_sdpa(id) && plan.options.indexer;
  if (name->gradient || (tensor_entry(id).role == TensorRole::intermediate && !given))
    refuse(number, edit, "this tensor is computed and cannot be edited", "",
           "an input, a parameter or a mask", "edit what it is computed from");
  if (plan.self_attention && (id == TensorId::key || id == TensorId::value))
    refuse(number, edit, "in self-attention this is the query", "", "",
           "edit query, or set inputs.self_attention to false");
  if (plan.value_is_key && id == TensorId::value)
    refuse(number, edit, "value is the same array as key here", "", "", "edit key");
  if (projects(plan.options.op)) to_present_layout(id, index, plan);
  return id;
}

}  // namespace

void apply_edits(const Scenario& scenario, const ScenarioPlan& plan, TensorMaker& maker,
                 AttentionInputs& inputs) {
  std::map<TensorId, std::vector<Placed>> by_tensor;
  for (std::size_t number = 0; number < scenario.edits.size(); ++number) {
    std::vector<Index> index = scenario.edits[number].index;
    const TensorId id = target_of(number, scenario.edits[number], plan, index);
    by_tensor[id].push_back({number, std::move(index)});
  }
  for (const auto& of_tensor : by_tensor) {
    const TensorId id = of_tensor.first;
    const std::vector<Placed>& edits = of_tensor.second;
    const CellEdit& first = scenario.edits[edits.front().number];
    const std::string name(tensor_entry(id).name);
    if (id == TensorId::head_gain)
      refuse(edits.front().number, first, "gains cannot be edited cell by cell", "", "", "set heads.gain");
    TensorPtr& tensor = inputs.tensors.*(tensor_entry(id).member);
    const bool begins = id == TensorId::attn_mask || id == TensorId::key_padding_mask;
    if (!tensor && !begins)
      refuse(edits.front().number, first, "this scenario has no such tensor", "", "", "leave the edit out");
    std::string recipe;
    for (const Placed& edit : edits) {
      const double value = scenario.edits[edit.number].value;
      recipe += fmt::format("{}={};", join(edit.index, ","), value);
    }
    if (!tensor)
      recipe +=
          fmt::format("{} {} {} {}", plan.batch, plan.options.num_heads, plan.query_length, plan.masked_keys);
    const TensorPtr before = tensor;
    tensor = maker.get(name + " edited", recipe, {before}, [&] {
      Tensor edited = before ? *before : empty_mask(id, edits.front().index.size(), plan);
      for (const Placed& edit : edits) set_cell(edited, edit.number, scenario.edits[edit.number], edit.index);
      return edited;
    });
    if (id == TensorId::query && plan.self_attention) {
      inputs.tensors.key = tensor;
      if (inputs.tensors.value) inputs.tensors.value = tensor;
    }
    if (id == TensorId::key && plan.value_is_key) inputs.tensors.value = tensor;
  }
}

}  // namespace headwise
