#include "core/attention/rule_builder.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/output_gate.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"

namespace headwise {
namespace {

class Declaration : RuleBuilder {
 public:
  using RuleBuilder::RuleBuilder;

  void declare() {
    const Index q_rows = sizes_.heads * sizes_.head_dim;
    const Index k_rows = sizes_.kv_heads * sizes_.head_dim;
    rule_.combine = Combine::product_sum;
    switch (rule_.result.id) {
      case Id::q_a:
        return add_linear(Id::query, Id::q_a_weight, Id::q_a_bias);
      case Id::kv_a:
        return add_linear(Id::key, Id::kv_a_weight, Id::kv_a_bias);
      case Id::kv_b:
        return add_linear(latents_of_heads(trace_.options), Id::kv_b_weight, {});
      case Id::k_rot:
      case Id::q_absorbed:
      case Id::k_absorbed:
      case Id::latent_output:
        return declare_latent_rule(trace_, rule_);
      case Id::indexer_q:
      case Id::indexer_k:
      case Id::indexer_weights:
      case Id::indexer_scores:
        return declare_indexer_rule(trace_, rule_);
      case Id::compressed_q:
        return declare_norm(Id::q_a, Id::q_a_norm_weight);
      case Id::compressed_kv:
        return declare_norm(Id::kv_a, Id::kv_a_norm_weight);
      case Id::q:
        if (trace_.options.q_lora_rank) return add_linear(Id::compressed_q, Id::q_b_weight, {});
        return add_projection(Id::query, Id::q_proj_weight, 0, {});
      case Id::k:
        return declare_k_or_v({Id::key, Id::k_proj_weight, Id::static_k, Id::bias_k, q_rows, sizes_.head_dim});
      case Id::v:
        return declare_k_or_v(
            {Id::value, Id::v_proj_weight, Id::static_v, Id::bias_v, q_rows + k_rows, sizes_.v_head_dim});
      case Id::k_heads:
      case Id::v_heads:
        if (is_latent(trace_.options)) return declare_latent_rule(trace_, rule_);
        [[fallthrough]];
      case Id::q_heads:
        return declare_split(made_of(rule_.result.id, trace_.options));
      case Id::q_normed:
        return declare_norm(made_of(Id::q_normed, trace_.options), Id::q_norm_weight);
      case Id::k_normed:
        return declare_norm(made_of(Id::k_normed, trace_.options), Id::k_norm_weight);
      case Id::q_rotary:
      case Id::k_rotary:
        return declare_rotary(made_of(rule_.result.id, trace_.options));
      case Id::present_key:
      case Id::present_value:
      case Id::present_compressed_kv:
      case Id::present_k_rot:
        return declare_present(*past_before(rule_.result.id));
      case Id::scores:
        return declare_scores();
      case Id::scaled_scores:
        rule_.combine = Combine::scale;
        return add({same_cell(Id::scores)});
      case Id::position_bias:
        return declare_position_bias();
      case Id::mask_bias:
        rule_.combine = Combine::merge_masks;
        rule_.products = mask_products(trace_);
        return;
      case Id::masked_scores:
        return declare_masked_scores();
      case Id::lse:
        rule_.combine = Combine::log_sum_exp;
        return add({row_of_scores()}, {{"s", sizes_.all_keys}});
      case Id::sink_weights:
        rule_.combine = Combine::sink_share;
        add({same_cell(Id::lse)});
        return add({operand(Id::sinks, {axis_of(in_heads::h)})});
      case Id::full_weights:
        return declare_full_weights();
      case Id::attn_weights:
        return declare_attn_weights();
      case Id::dropped_weights:
        return declare_dropped_weights();
      case Id::head_output:
        return declare_head_output();
      case Id::concat:
        return declare_concat();
      case Id::output_gate:
        return add_linear(Id::query, Id::output_gate_weight, Id::output_gate_bias);
      case Id::gated_concat:
        return declare_gated_concat();
      case Id::output:
        return declare_output();
      case Id::residual_output:
        add({same_cell(Id::query)});
        return add({same_cell(Id::output)});
      case Id::layer_norm_output:
        return declare_norm(trace_.options.residual ? Id::residual_output : Id::output, {});
      case Id::attn_output_weights:
        return declare_attn_output_weights();
      default:
        rule_.combine = Combine::given;  // an input, a parameter or a mask
    }
  }

 private:
  struct KeyOrValue {
    Id x, own_weight, static_heads, bias_row;
    Index first_row;  // of in_proj_weight
    Index width;      // D or Dv
  };

  // 'nte,ce->ntc': x·Wᵀ + b. W is own_weight, or the rows from first_row on of in_proj_weight;
  // in_proj_bias is packed either way.
  void add_projection(Id x, Id own_weight, Index first_row, const std::vector<IndexCondition>& where) {
    using namespace joined;
    const bool packed = has(Id::in_proj_weight);
    add({operand(x, {axis_of(n), axis_of(row), axis_of(summed)}),
         packed ? operand(Id::in_proj_weight, {axis_of(column, first_row), axis_of(summed)})
                : operand(own_weight, {axis_of(column), axis_of(summed)})},
        {{"e", trace_.tensor(x)->shape().size(2)}}, where);
    if (has(Id::in_proj_bias)) add({operand(Id::in_proj_bias, {axis_of(column, first_row)})}, {}, where);
  }

  // Rows [0,S) are projected, or are static_k / static_v with the heads merged; then comes the row of
  // bias_k / bias_v; then a row of zeros, which has no product.
  void declare_k_or_v(const KeyOrValue& of) {
    using namespace joined;
    const Index keys = sizes_.new_keys();
    if (has(of.static_heads)) {
      add({operand(of.static_heads,
                   {axis_of(n), axis_group(column, of.width), axis_of(row), axis_within(column, of.width)})},
          {}, {{row, {0, keys}}});
    } else {
      add_projection(of.x, of.own_weight, of.first_row, {{row, {0, keys}}});
    }
    if (has(of.bias_row)) add({operand(of.bias_row, {axis_of(column)})}, {}, {{row, {keys, keys + 1}}});
  }

  // 'nt(hd)->nhtd'; scaled_dot_product_attention itself is given its heads.
  void declare_split(Id x) {
    using namespace in_heads;
    if (trace_.options.op == Op::scaled_dot_product_attention) {
      rule_.combine = Combine::given;
      return;
    }
    rule_.combine = trace_.options.clip_qkv ? Combine::clip : Combine::copy;
    add({operand(x, {axis_of(n), axis_of(row), axis_joined(h, rule_.sizes.back(), column)})});
  }

  // The columns of a pair are rotated together; those behind the last pair stay unchanged. The cell's own
  // column comes first, then its partner's.
  void declare_rotary(Id heads) {
    using namespace in_heads;
    const Rotation rotation = rotation_of(trace_.options);
    rule_.combine = Combine::rotation;
    for (const RotaryPiece& piece : rotary_pieces(rotation, 0, column))
      for (const AxisMap& from : {piece.own, piece.partner})
        add({operand(heads, {axis_of(n), axis_of(h), axis_of(row), from})}, {}, {{column, piece.columns}});
    const Index end = rotation.first + 2 * rotation.count();
    for (const Interval& others : {Interval{0, rotation.first}, Interval{end, sizes_.head_dim}}) {
      if (others.empty()) continue;
      add({same_cell(heads)}, {}, {{column, others}});
      rule_.products.back().combine_override = Combine::copy;
    }
  }

  // Rows [0,P) are the past's, those from P on this pass's.
  void declare_present(Id past) {
    const Index before = sizes_.past;
    const int row = static_cast<int>(rule_.sizes.size()) - 2;
    rule_.combine = Combine::copy;
    if (before > 0) add({same_cell(past)}, {}, {{row, {0, before}}});
    if (sizes_.key_rows() == 0) return;
    Operand own = same_cell(made_of(rule_.result.id, trace_.options));
    own.axes[static_cast<std::size_t>(row)] = axis_of(row, -before);
    add({std::move(own)}, {}, {{row, {before, sizes_.all_keys}}});
  }

  // 'nhld,ngsd->nhls', g = h / (H/G)
  void declare_scores() {
    using namespace in_heads;
    const Id queries = path_of_queries(trace_.options).back(), keys = path_of_keys(trace_.options).back();
    add({operand(queries, {axis_of(n), axis_of(h), axis_of(row), axis_of(summed)}),
         operand(keys, {axis_of(n), kv_head(), axis_of(column), axis_of(summed)})},
        {{"d", sizes_.score_width()}});
  }

  void declare_masked_scores() {
    if (!has_any_mask(trace_.options, given_masks(trace_.tensors))) return copy(Id::scaled_scores);
    rule_.combine = Combine::add_mask;
    add({same_cell(Id::scaled_scores)});
    add({same_cell(Id::mask_bias)});
  }

  // 'nhls': a head's number for the bucket that the distance is in; 0 in appended columns
  void declare_position_bias() {
    using namespace in_heads;
    rule_.combine = Combine::copy;
    const Index offset = causal_offset(trace_.options, sizes_.queries, sizes_.keys);
    for (const RelativeBucket& run :
         relative_buckets(*trace_.options.relative_bias, 1 - offset - sizes_.queries, sizes_.keys - offset)) {
      add({operand(Id::relative_bias_weight, {axis_fixed(run.bucket), axis_of(h)})}, {},
          {{column, {0, sizes_.keys}}});
      rule_.products.back().band = Band{axis_of(row, offset), axis_of(column), {run.begin, run.end}};
    }
  }

  // The masked scores of a row of (N,H,L), or of the row of a cell of (N,H,L,S′): summed over the last
  // variable.
  Operand row_of_scores() const {
    using namespace in_heads;
    return operand(Id::masked_scores,
                   {axis_of(n), axis_of(h), axis_of(row), axis_of(static_cast<int>(rule_.sizes.size()))});
  }

  // One piece for each run of heads that are not frozen, all of them if none is, with their sinks;
  // then one for each frozen head.
  void declare_attn_weights() {
    using namespace in_heads;
    const std::vector<Index>& frozen = trace_.options.frozen_heads;
    const std::vector<HeadRange> runs = unfrozen_heads(sizes_.heads, frozen);
    rule_.combine = runs.empty() ? Combine::copy : Combine::softmax;
    for (const HeadRange& run : runs) {
      add({row_of_scores()}, {{"s", sizes_.all_keys}}, head_conditions(run));
      if (has(Id::sinks)) add({operand(Id::sinks, {axis_of(h)})}, {}, head_conditions(run));
    }
    add_frozen_weights();
  }

  void add_frozen_weights() {
    using namespace in_heads;
    const std::vector<Index>& frozen = trace_.options.frozen_heads;
    for (std::size_t f = 0; f < frozen.size(); ++f) {
      add({operand(Id::frozen_weights,
                   {axis_of(n), axis_fixed(static_cast<Index>(f)), axis_of(row), axis_of(column)})},
          {}, head_conditions({frozen[f], frozen[f] + 1}));
      rule_.products.back().combine_override = Combine::copy;
    }
  }

  // As attn_weights, from the row of scaled scores and of every mask but the indexer's.
  void declare_full_weights() {
    using namespace in_heads;
    const std::vector<Index>& frozen = trace_.options.frozen_heads;
    rule_.combine = Combine::full_softmax;
    for (const HeadRange& run : unfrozen_heads(sizes_.heads, frozen)) {
      Operand scores = row_of_scores();
      scores.tensor = {Id::scaled_scores};
      add({scores}, {{"s", sizes_.all_keys}}, head_conditions(run));
      for (Product mask : mask_products(trace_)) {
        if (mask.factors.empty() || mask.reading == MaskReading::not_chosen) continue;
        for (AxisMap& axis : mask.factors.front().axes)
          for (AxisTerm& term : axis.terms)
            if (term.variable == column) term.variable = summed;
        add(mask.factors, {{"s", mask.where.front().range.end}}, head_conditions(run));
      }
      if (has(Id::sinks)) add({operand(Id::sinks, {axis_of(h)})}, {}, head_conditions(run));
    }
    add_frozen_weights();
  }

  // Frozen heads bypass dropout.
  void declare_dropped_weights() {
    const std::vector<Index>& frozen = trace_.options.frozen_heads;
    const std::vector<HeadRange> runs = unfrozen_heads(sizes_.heads, frozen);
    if (trace_.options.dropout == 0.0 || runs.empty()) return copy(Id::attn_weights);
    rule_.combine = Combine::dropout;
    for (const HeadRange& run : runs) add({same_cell(Id::attn_weights)}, {}, head_conditions(run));
    for (const Index head : frozen) {
      add({same_cell(Id::attn_weights)}, {}, head_conditions({head, head + 1}));
      rule_.products.back().combine_override = Combine::copy;
    }
  }

  // 'nhls,ngsd->nhld', g = h / (H/G)
  // In the absorbed layout 'nhlc,hec->nhle' with a head's W_UV.
  void declare_head_output() {
    using namespace in_heads;
    for (Index head = 0; sizes_.absorbed && head < sizes_.heads; ++head)
      add({operand(Id::latent_output, {axis_of(n), axis_of(h), axis_of(row), axis_of(summed)}),
           operand(Id::kv_b_weight, {axis_of(column, first_row_of(head) + sizes_.nope), axis_of(summed)})},
          {{"c", sizes_.latent}}, {{h, {head, head + 1}}});
    if (sizes_.absorbed) return;
    add({operand(Id::dropped_weights, {axis_of(n), axis_of(h), axis_of(row), axis_of(summed)}),
         operand(path_of_values(trace_.options).back(),
                 {axis_of(n), kv_head(), axis_of(summed), axis_of(column)})},
        {{"s", sizes_.all_keys}});
  }

  // 'nhld,h->nl(hd)'
  void declare_concat() {
    using namespace joined;
    const AxisMap head = axis_group(column, sizes_.v_head_dim);
    std::vector<Operand> factors{
        operand(Id::head_output, {axis_of(n), head, axis_of(row), axis_within(column, sizes_.v_head_dim)})};
    if (has(Id::head_gain)) factors.push_back(operand(Id::head_gain, {head}));
    add(std::move(factors));
  }

  // 'nlc,ec->nle'
  void declare_output() {
    if (trace_.options.op == Op::scaled_dot_product_attention) return copy(Id::head_output);
    add_linear(rows_of_output(trace_.tensors), Id::out_proj_weight, Id::out_proj_bias);
  }

  // A number of the gate for each column, or for each head.
  void declare_gated_concat() {
    using namespace joined;
    rule_.combine = Combine::gate;
    const bool by_head = trace_.tensor(Id::output_gate_weight)->shape().size(0) != rule_.sizes.back();
    add({same_cell(Id::concat),
         operand(Id::output_gate, {axis_of(n), axis_of(row),
                                   by_head ? axis_group(column, sizes_.v_head_dim) : axis_of(column)})});
  }

  // The row that the cell is in, and the cell's weight, if there are any: one for each number of a row (W),
  // or of a head's row (H,W).
  void declare_norm(Id x, std::optional<Id> weight) {
    rule_.combine = Combine::norm;
    const int last = static_cast<int>(rule_.sizes.size()) - 1;
    Operand row = same_cell(x);
    row.axes.back() = axis_of(last + 1);
    add({row}, {{rule_.result.id == Id::layer_norm_output ? "e"
                 : last == 3                              ? "d"
                                                          : "c",
                 rule_.sizes.back()}});
    if (!weight || !has(*weight)) return;
    std::vector<AxisMap> axes{axis_of(last)};
    if (trace_.tensor(*weight)->shape().rank() == 2) axes.insert(axes.begin(), axis_of(in_heads::h));
    add({operand(*weight, axes)});
  }

  // 'nhls->nls', the mean over h, or every head's own
  void declare_attn_output_weights() {
    using namespace joined;
    if (!trace_.options.average_attn_weights) return copy(Id::dropped_weights);
    rule_.combine = Combine::mean;
    add({operand(Id::dropped_weights, {axis_of(n), axis_of(summed), axis_of(row), axis_of(column)})},
        {{"h", sizes_.heads}});
  }
};

}  // namespace

void declare_forward_rule(const Trace& trace, Rule& rule) {
  Declaration(trace, rule).declare();
}

}  // namespace headwise
