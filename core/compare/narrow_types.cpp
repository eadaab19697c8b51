#include "core/compare/narrow_types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/compare/array_compare.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

constexpr std::size_t enough_numbers = 8;  // different ones, besides those with few digits

// Whether a number has so few binary digits that it says nothing about its type: 0, 1, 0.5, 3.
bool is_plain(double value) {
  constexpr NarrowType few{"", 4, -14, 65504.0};
  return rounded_to(few, value) == value;
}

}  // namespace

double NarrowType::tolerance() const {
  return stored_tolerance(DType::f32, name);
}

double rounded_to(const NarrowType& type, double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const int exponent = std::max(std::ilogb(value), type.least_exponent);
  const double unit = std::ldexp(1.0, exponent - (type.digits - 1));
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > type.largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                          : rounded;
}

bool holds_only(const NarrowType& type, const Tensor& tensor) {
  std::set<double> numbers;
  for (Index i = 0; i < tensor.size(); ++i) {
    const double value = tensor.flat(i);
    if (!std::isfinite(value)) continue;
    if (rounded_to(type, value) != value) return false;
    if (numbers.size() < enough_numbers && !is_plain(value)) numbers.insert(value);
  }
  return numbers.size() >= enough_numbers;
}

namespace {

using Id = TensorId;

TensorPtr rounded(const TensorPtr& tensor, const NarrowType& type) {
  if (!tensor || tensor->dtype() != DType::f64) return tensor;
  return shared_tensor(mapped_cells(*tensor, [&](double x) { return rounded_to(type, x); }));
}

// Rounds the given tensors of one role; shared arrays stay shared.
void round_role(AttentionInputs& inputs, TensorRole role, const NarrowType& type) {
  TraceTensors& t = inputs.tensors;
  const bool same_key = t.key == t.query, same_value = t.value == t.query, value_is_key = t.value == t.key;
  for (const TensorEntry& entry : tensor_entries())
    if (entry.role == role) t.*(entry.member) = rounded(t.*(entry.member), type);
  if (role != TensorRole::input) return;
  if (same_key) t.key = t.query;
  if (same_value)
    t.value = t.query;
  else if (value_is_key)
    t.value = t.key;
}

}  // namespace

void add_rounding_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const bool heads_given = inputs.options.op == Op::scaled_dot_product_attention;
  const bool latents = is_latent(inputs.options);
  const std::string made = latents ? "q and kv_a" : "q, k and v", made_of_all = latents ? "q, kv_a" : "q, k, v";
  const std::vector<Id> made_ids = latents ? std::vector{Id::q, Id::kv_a} : std::vector{Id::q, Id::k, Id::v};
  std::vector<Id> all = made_ids;
  for (const Id id : {Id::scores, Id::scaled_scores, Id::attn_weights, Id::head_output, Id::output})
    all.push_back(id);
  for (const NarrowType& type : {bf16, f16}) {
    const auto inward = [&](const char* what, std::vector<TensorRole> roles) {
      variants.push_back({fmt::format("{} are rounded to {} before they are used", what, type.name),
                          [roles, type](AttentionInputs& other) {
                            for (const TensorRole role : roles) round_role(other, role, type);
                          }});
    };
    inward("query, key and value", {TensorRole::input});
    if (!heads_given) {
      inward("the parameters", {TensorRole::parameter});
      inward("inputs and parameters", {TensorRole::input, TensorRole::parameter});
    }
    const auto stages = [&](const std::string& what, const std::vector<Id>& ids) {
      std::vector<StageChange> changes;
      for (const Id id : ids) changes.push_back(mapped(id, [type](double x) { return rounded_to(type, x); }));
      variants.push_back({fmt::format("{} rounded to {}", what, type.name), std::move(changes)});
    };
    if (!heads_given) {
      stages(made + " are", made_ids);
      stages("concat is", {Id::concat});
    }
    stages("the scores are", {Id::scores});
    stages("the scaled scores are", {Id::scaled_scores});
    stages("the weights are", {Id::attn_weights});
    stages("the heads' output is", {Id::head_output});
    if (!heads_given) stages(made_of_all + ", scores, weights and output are each", all);
  }
}

}  // namespace headwise
