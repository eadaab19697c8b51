#include "core/attention/rules.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/attention/output_gate.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"

namespace headwise {
namespace {

using Id = TensorId;

// The variables of a result with axes (N, length, columns), followed by the summed one.
namespace joined {
constexpr int n = 0, row = 1, column = 2, summed = 3;
}
// The variables of a result with axes (N, H, L or S′, S′ or width), followed by the summed one.
namespace in_heads {
constexpr int n = 0, h = 1, row = 2, column = 3, summed = 4;
}

class Declaration {
 public:
  Declaration(const Trace& trace, Rule& rule)
      : trace_(trace), sizes_(attention_sizes(trace.options, trace.tensors)), rule_(rule) {}

  void declare() {
    const Index q_rows = sizes_.heads * sizes_.head_dim;
    const Index k_rows = sizes_.kv_heads * sizes_.head_dim;
    rule_.combine = Combine::product_sum;
    switch (rule_.result.id) {
      case Id::q_a:
        return add_linear(Id::query, Id::q_a_weight, Id::q_a_bias);
      case Id::compressed_q:
        return declare_norm(Id::q_a, Id::q_a_norm_weight);
      case Id::kv_a:
        return add_linear(Id::key, Id::kv_a_weight, Id::kv_a_bias);
      case Id::compressed_kv:
        return declare_norm(Id::kv_a, Id::kv_a_norm_weight);
      case Id::k_rot:
        return declare_rotated_key();
      case Id::kv_b:
        return add_linear(Id::compressed_kv, Id::kv_b_weight, {});
      case Id::q_absorbed:
        return declare_absorbed_queries();
      case Id::k_absorbed:
        return declare_absorbed_keys();
      case Id::latent_output:
        return declare_latent_output();
      case Id::q:
        if (trace_.options.q_lora_rank) return add_linear(Id::compressed_q, Id::q_b_weight, {});
        return add_projection(Id::query, Id::q_proj_weight, 0, {});
      case Id::k:
        return declare_k_or_v({Id::key, Id::k_proj_weight, Id::static_k, Id::bias_k, q_rows, sizes_.head_dim});
      case Id::v:
        return declare_k_or_v(
            {Id::value, Id::v_proj_weight, Id::static_v, Id::bias_v, q_rows + k_rows, sizes_.v_head_dim});
      case Id::k_heads:
        if (is_latent(trace_.options)) return declare_expanded_keys();
        [[fallthrough]];
      case Id::q_heads:
        return declare_split(made_of(rule_.result.id, trace_.options));
      case Id::v_heads:
        if (is_latent(trace_.options)) return declare_expanded_values();
        return declare_split(Id::v);
      case Id::q_normed:
        return declare_norm(made_of(Id::q_normed, trace_.options), Id::q_norm_weight);
      case Id::k_normed:
        return declare_norm(made_of(Id::k_normed, trace_.options), Id::k_norm_weight);
      case Id::q_rotary:
      case Id::k_rotary:
        return declare_rotary(made_of(rule_.result.id, trace_.options));
      case Id::present_key:
        return declare_present(Id::past_key);
      case Id::present_value:
        return declare_present(Id::past_value);
      case Id::indexer_q:
        return declare_indexer_q();
      case Id::indexer_k:
        return declare_indexer_k();
      case Id::indexer_weights:
        if (declare_given()) return;
        rule_.combine = Combine::indexer_weight;
        return add_linear(Id::query, Id::indexer_weights_proj, {});
      case Id::indexer_scores:
        return declare_indexer_scores();
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

  // The columns of kv_a behind the latent, turned as those of a head.
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

  // What scaled_dot_product_attention is given, and multi_head_attention computes.
  bool declare_given() {
    const bool given = trace_.options.op == Op::scaled_dot_product_attention;
    if (given) rule_.combine = Combine::given;
    return given;
  }

  // The columns that the indexer rotates, with the partner of each; none without RoPE.
  struct Turned {
    Interval columns;
    AxisMap partner;
  };
  std::vector<Turned> turned_columns() const {
    using namespace in_heads;
    const Rotation rotation = indexer_rotation(trace_.options);
    const Index pairs = rotation.count();
    if (pairs == 0) return {};
    if (rotation.pairs == RotaryPairs::neighbours) return {{{0, 2 * pairs}, axis_neighbour(column)}};
    return {{{0, pairs}, axis_of(column, pairs)}, {{pairs, 2 * pairs}, axis_of(column, -pairs)}};
  }

  // 'nle,(md)e->nmld', rotated: a cell's own product, then that of its partner.
  void declare_indexer_q() {
    using namespace in_heads;
    if (declare_given()) return;
    rule_.combine = Combine::indexer_query;
    const auto add_part = [&](const AxisMap& of_head, Interval columns) {
      AxisMap row_of_weight = of_head;
      row_of_weight.terms.insert(row_of_weight.terms.begin(), {.variable = h, .times = rule_.sizes.back()});
      add({operand(Id::query, {axis_of(n), axis_of(row), axis_of(summed)}),
           operand(Id::indexer_wq_b, {row_of_weight, axis_of(summed)})},
          {{"e", sizes_.embed_dim}}, {{column, columns}});
    };
    Index from = 0;
    for (const Turned& part : turned_columns()) {
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
      for (const Turned& part : turned_columns())
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

  // Where a head's rows of kv_b_proj.weight begin: a piece for each head, since they are no digits of a row.
  Index first_row_of(Index head) const { return head * (sizes_.nope + sizes_.v_head_dim); }

  // Of each head its columns of kv_b, then k_rot.
  void declare_expanded_keys() {
    using namespace in_heads;
    for (Index head = 0; head < sizes_.heads; ++head)
      add({operand(Id::kv_b, {axis_of(n), axis_of(row), axis_of(column, first_row_of(head))})}, {},
          {{h, {head, head + 1}}, {column, {0, sizes_.nope}}});
    add({operand(Id::k_rot, {axis_of(n), axis_fixed(0), axis_of(row), axis_of(column, -sizes_.nope)})}, {},
        {{column, {sizes_.nope, sizes_.head_dim}}});
  }

  void declare_expanded_values() {
    using namespace in_heads;
    for (Index head = 0; head < sizes_.heads; ++head)
      add({operand(Id::kv_b, {axis_of(n), axis_of(row), axis_of(column, first_row_of(head) + sizes_.nope)})},
          {}, {{h, {head, head + 1}}});
  }

  // 'nhld,hdc->nhlc' with a head's W_UK, then the columns that are turned.
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
    add({operand(Id::compressed_kv, {axis_of(n), axis_of(row), axis_of(column)})}, {},
        {{column, {0, sizes_.latent}}});
    add({operand(Id::k_rot, {axis_of(n), axis_fixed(0), axis_of(row), axis_of(column, -sizes_.latent)})}, {},
        {{column, {sizes_.latent, sizes_.score_width()}}});
  }

  // 'nhls,nsc->nhlc'
  void declare_latent_output() {
    using namespace in_heads;
    add({operand(Id::dropped_weights, {axis_of(n), axis_of(h), axis_of(row), axis_of(summed)}),
         operand(Id::compressed_kv, {axis_of(n), axis_of(summed), axis_of(column)})},
        {{"s", sizes_.all_keys}});
  }

  // Rows [0,P) are the past's, those from P on this pass's.
  void declare_present(Id past) {
    using namespace in_heads;
    const Index before = sizes_.past;
    rule_.combine = Combine::copy;
    if (before > 0) add({same_cell(past)}, {}, {{row, {0, before}}});
    if (sizes_.key_rows() == 0) return;
    add({operand(made_of(rule_.result.id, trace_.options),
                 {axis_of(n), axis_of(h), axis_of(row, -before), axis_of(column)})},
        {}, {{row, {before, sizes_.all_keys}}});
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

  // 'nlc,ec->nle': x·Wᵀ + b
  void add_linear(Id x, Id weight, std::optional<Id> bias) {
    using namespace joined;
    add({operand(x, {axis_of(n), axis_of(row), axis_of(summed)}),
         operand(weight, {axis_of(column), axis_of(summed)})},
        {{x == Id::query || x == Id::key ? "e" : "c", trace_.tensor(weight)->shape().size(1)}});
    if (bias && has(*bias)) add({operand(*bias, {axis_of(column)})});
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

  const Trace& trace_;
  const AttentionSizes sizes_;
  Rule& rule_;
};

}  // namespace

void declare_forward_rule(const Trace& trace, Rule& rule) {
  Declaration(trace, rule).declare();
}

}  // namespace headwise
