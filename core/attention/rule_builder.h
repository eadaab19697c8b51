// What the declarations of rules are written with (core/attention/rules.h): the products of one rule, one
// after the other.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/rules.h"
#include "core/attention/softmax.h"

namespace headwise {

// The variables of a result with axes (N, length, columns), followed by the summed one.
namespace joined {
constexpr int n = 0, row = 1, column = 2, summed = 3;
}
// The variables of a result with axes (N, H, L or S′, S′ or width), followed by the summed one.
namespace in_heads {
constexpr int n = 0, h = 1, row = 2, column = 3, summed = 4;
}

class RuleBuilder {
 public:
  RuleBuilder(const Trace& trace, Rule& rule)
      : trace_(trace), sizes_(attention_sizes(trace.options, trace.tensors)), rule_(rule) {}

 protected:
  using Id = TensorId;

  bool has(Id id) const { return trace_.tensor(id) != nullptr; }
  static Operand operand(Id id, std::vector<AxisMap> axes) { return {{id}, std::move(axes)}; }

  // The same cell of a tensor of the result's shape.
  Operand same_cell(Id id) const {
    std::vector<AxisMap> axes;
    for (std::size_t axis = 0; axis < rule_.sizes.size(); ++axis)
      axes.push_back(axis_of(static_cast<int>(axis)));
    return operand(id, std::move(axes));
  }

  AxisMap kv_head() const { return axis_group(in_heads::h, sizes_.heads / sizes_.kv_heads); }

  void add(std::vector<Operand> factors, std::vector<SummedAxis> sums = {},
           std::vector<IndexCondition> where = {}) {
    Product& product = rule_.products.emplace_back();
    product.factors = std::move(factors);
    product.sums = std::move(sums);
    product.where = std::move(where);
  }

  void copy(Id id) {
    rule_.combine = Combine::copy;
    add({same_cell(id)});
  }

  // The cells of these heads; everywhere if they are all heads.
  std::vector<IndexCondition> head_conditions(const HeadRange& heads) const {
    if (heads == HeadRange{0, sizes_.heads}) return {};
    return {{in_heads::h, {heads.begin, heads.end}}};
  }

  // 'nlc,ec->nle': x·Wᵀ + b
  void add_linear(Id x, Id weight, std::optional<Id> bias) {
    using namespace joined;
    add({operand(x, {axis_of(n), axis_of(row), axis_of(summed)}),
         operand(weight, {axis_of(column), axis_of(summed)})},
        {{x == Id::query || x == Id::key ? "e" : "c", trace_.tensor(weight)->shape().size(1)}});
    if (bias && has(*bias)) add({operand(*bias, {axis_of(column)})});
  }

  // What scaled_dot_product_attention is given, and multi_head_attention computes.
  bool declare_given() {
    const bool given = trace_.options.op == Op::scaled_dot_product_attention;
    if (given) rule_.combine = Combine::given;
    return given;
  }

  // Where a head's rows of kv_b_proj.weight begin: a piece for each head, since they are no digits of a row.
  Index first_row_of(Index head) const { return head * (sizes_.nope + sizes_.v_head_dim); }

  const Trace& trace_;
  const AttentionSizes sizes_;
  Rule& rule_;
};

// The rules of the tensors that only multi_head_latent_attention has, or makes in a way of its own, and those
// of the indexer's.
void declare_latent_rule(const Trace& trace, Rule& rule);
void declare_indexer_rule(const Trace& trace, Rule& rule);

}  // namespace headwise
