#include "core/attention/rotary_embedding.h"
#include "core/attention/rule_builder.h"
#include "core/attention/score_path.h"

namespace headwise {
namespace {

class LatentRules : RuleBuilder {
 public:
  using RuleBuilder::RuleBuilder;

  void declare() {
    switch (rule_.result.id) {
      case Id::k_rot:
        return declare_rotated_key();
      case Id::q_absorbed:
        return declare_absorbed_queries();
      case Id::k_absorbed:
        return declare_absorbed_keys();
      case Id::latent_output:
        return declare_latent_output();
      case Id::k_heads:
        return declare_expanded_keys();
      default:
        return declare_expanded_values();
    }
  }

 private:
  // The columns of kv_a behind the latent, rotated as those of a head.
  void declare_rotated_key() {
    using namespace in_heads;
    const Rotation rotation = rotation_of_keys(trace_.options);
    const auto columns_of_kv_a = [&](const AxisMap& from, std::vector<IndexCondition> where) {
      add({operand(Id::kv_a, {axis_of(n), axis_of(row), from})}, {}, std::move(where));
    };
    if (!rotation) {
      rule_.combine = Combine::copy;
      return columns_of_kv_a(axis_of(column, sizes_.latent), {});
    }
    rule_.combine = Combine::rotation;
    for (const RotaryPiece& piece : rotary_pieces(rotation, sizes_.latent, column))
      for (const AxisMap& from : {piece.own, piece.partner}) columns_of_kv_a(from, {{column, piece.columns}});
    const Index end = 2 * rotation.count();
    if (end == sizes_.rope) return;
    columns_of_kv_a(axis_of(column, sizes_.latent), {{column, {end, sizes_.rope}}});
    rule_.products.back().combine_override = Combine::copy;
  }

  // Of each head its columns of kv_b, then k_rot.
  void declare_expanded_keys() {
    using namespace in_heads;
    for (Index head = 0; head < sizes_.heads; ++head)
      add({operand(Id::kv_b, {axis_of(n), axis_of(row), axis_of(column, first_row_of(head))})}, {},
          {{h, {head, head + 1}}, {column, {0, sizes_.nope}}});
    add_rotated_key(sizes_.nope, sizes_.head_dim);
  }

  void declare_expanded_values() {
    using namespace in_heads;
    for (Index head = 0; head < sizes_.heads; ++head)
      add({operand(Id::kv_b, {axis_of(n), axis_of(row), axis_of(column, first_row_of(head) + sizes_.nope)})},
          {}, {{h, {head, head + 1}}});
  }

  // 'nhld,hdc->nhlc' with a head's W_UK, then the columns that are rotated.
  void declare_absorbed_queries() {
    using namespace in_heads;
    const Id q = made_of(Id::q_absorbed, trace_.options);
    for (Index head = 0; head < sizes_.heads; ++head)
      add({operand(q, {axis_of(n), axis_of(h), axis_of(row), axis_of(summed)}),
           operand(Id::kv_b_weight, {axis_of(summed, first_row_of(head)), axis_of(column)})},
          {{"d", sizes_.nope}}, {{h, {head, head + 1}}, {column, {0, sizes_.latent}}});
    add({operand(q, {axis_of(n), axis_of(h), axis_of(row), axis_of(column, sizes_.nope - sizes_.latent)})},
        {}, {{column, {sizes_.latent, sizes_.score_width()}}});
  }

  void declare_absorbed_keys() {
    using namespace in_heads;
    add({operand(latents_of_heads(trace_.options), {axis_of(n), axis_of(row), axis_of(column)})}, {},
        {{column, {0, sizes_.latent}}});
    add_rotated_key(sizes_.latent, sizes_.score_width());
  }

  // Columns [begin, end) of a key: the part that is the same in all heads.
  void add_rotated_key(Index begin, Index end) {
    using namespace in_heads;
    add({operand(rotated_keys_of_heads(trace_.options),
                 {axis_of(n), axis_fixed(0), axis_of(row), axis_of(column, -begin)})},
        {}, {{column, {begin, end}}});
  }

  // 'nhls,nsc->nhlc'
  void declare_latent_output() {
    using namespace in_heads;
    add({operand(Id::dropped_weights, {axis_of(n), axis_of(h), axis_of(row), axis_of(summed)}),
         operand(latents_of_heads(trace_.options), {axis_of(n), axis_of(summed), axis_of(column)})},
        {{"s", sizes_.all_keys}});
  }
};

}  // namespace

void declare_latent_rule(const Trace& trace, Rule& rule) {
  LatentRules(trace, rule).declare();
}

}  // namespace headwise
