#include "core/attention/indexer.h"

#include "core/attention/rotary_embedding.h"
#include "core/attention/rule_builder.h"

namespace headwise {
namespace {

class IndexerRules : RuleBuilder {
 public:
  using RuleBuilder::RuleBuilder;

  void declare() {
    switch (rule_.result.id) {
      case Id::indexer_q:
        return declare_indexer_q();
      case Id::indexer_k:
        return declare_indexer_k();
      case Id::indexer_weights:
        if (declare_given()) return;
        rule_.combine = Combine::indexer_weight;
        return add_linear(Id::query, Id::indexer_weights_proj, {});
      default:
        return declare_indexer_scores();
    }
  }

 private:
  // The columns that are rotated, with the partner of each; none without RoPE.
  std::vector<RotaryPiece> turned_columns() const {
    const Rotation rotation = indexer_rotation(trace_.options);
    return rotation ? rotary_pieces(rotation, 0, in_heads::column) : std::vector<RotaryPiece>{};
  }

  // 'nle,(md)e->nmld', rotated: a cell's own product, then that of its partner.
  void declare_indexer_q() {
    using namespace in_heads;
    if (declare_given()) return;
    rule_.combine = Combine::indexer_query;
    const Id source = indexer_source(trace_.options);
    const auto add_part = [&](const AxisMap& of_head, Interval columns) {
      AxisMap row_of_weight = of_head;
      row_of_weight.terms.insert(row_of_weight.terms.begin(), {.variable = h, .times = rule_.sizes.back()});
      add({operand(source, {axis_of(n), axis_of(row), axis_of(summed)}),
           operand(Id::indexer_wq_b, {row_of_weight, axis_of(summed)})},
          {{source == Id::query ? "e" : "c", indexer_source_width(trace_.options)}}, {{column, columns}});
    };
    Index from = 0;
    for (const RotaryPiece& part : turned_columns()) {
      add_part(axis_of(column), part.columns);
      add_part(part.partner, part.columns);
      from = part.columns.end;
    }
    if (from == rule_.sizes.back()) return;
    add_part(axis_of(column), {from, rule_.sizes.back()});
    rule_.products.back().combine_override = Combine::product_sum;
  }

  // The row of key and all of W, which the norm reads, then the weight and the bias of the cell's own column
  // and of its partner's.
  void declare_indexer_k() {
    using namespace in_heads;
    if (declare_given()) return;
    rule_.combine = Combine::indexer_key;
    const int j = summed, e = summed + 1;
    add({operand(Id::key, {axis_of(n), axis_of(row), axis_of(e)}),
         operand(Id::indexer_wk, {axis_of(j), axis_of(e)})},
        {{"j", rule_.sizes.back()}, {"e", trace_.options.kdim}});
    for (const Id id : {Id::indexer_k_norm_weight, Id::indexer_k_norm_bias}) {
      if (!has(id)) continue;
      add({operand(id, {axis_of(column)})});
      for (const RotaryPiece& part : turned_columns())
        add({operand(id, {part.partner})}, {}, {{column, part.columns}});
    }
  }

  // 'nmld,nsd,nlm->nls', with ReLU behind the sum over d
  void declare_indexer_scores() {
    using namespace joined;
    rule_.combine = Combine::indexer_score;
    const int m = summed, d = summed + 1;
    const Indexer indexer = trace_.options.indexer.value();
    add({operand(Id::indexer_q, {axis_of(n), axis_of(m), axis_of(row), axis_of(d)}),
         operand(Id::indexer_k, {axis_of(n), axis_fixed(0), axis_of(column), axis_of(d)}),
         operand(Id::indexer_weights, {axis_of(n), axis_of(row), axis_of(m)})},
        {{"m", indexer.heads}, {"d", indexer.width}});
  }
};

}  // namespace

void declare_indexer_rule(const Trace& trace, Rule& rule) {
  IndexerRules(trace, rule).declare();
}

}  // namespace headwise
