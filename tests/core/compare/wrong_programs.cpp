#include "tests/core/compare/wrong_programs.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "core/attention/heads.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"
#include "core/compare/narrow_types.h"

namespace headwise::test {

using Id = TensorId;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// gated_concat as a function of a number of concat and of its gate.
StageChange gated_by(double (*open)(double x, double gate)) {
  return {Id::gated_concat, [open](const Trace& t) {
            Tensor result = *t.tensors.concat;
            for (Index i = 0; i < result.size(); ++i)
              result.set_flat(i, open(result.flat(i), t.tensors.output_gate->flat(i)));
            return result;
          }};
}

bool pads(const Trace& t, Index n, Index s) {
  return t.tensors.key_padding_mask->at({n, s}) != 0.0;
}

StageChange blocked(const std::function<bool(const Trace&, Index n, Index l, Index s)>& blocks) {
  return {Id::mask_bias, [blocks](const Trace& t) {
            return filled4(t.tensors.scores->shape(), [&](Index n, Index, Index l, Index s) {
              return blocks(t, n, l, s) ? -infinity : 0.0;
            });
          }};
}

StageChange turned(Id rotary_heads, Id heads, double direction, Index first) {
  return {rotary_heads, [=](const Trace& t) {
            Rotation rotation = rotation_of(t.options);
            for (double& frequency : rotation.inverse_frequencies) frequency *= direction;
            return rotary_embedding(*t.tensor(heads), rotation, first);
          }};
}

// A stage whose cells come from those of another one.
using CellRule = std::function<double(const Cells&, Index, Index, Index, Index)>;
StageChange changed(Id stage, Id from, const CellRule& cell) {
  return {stage, [=](const Trace& t) {
            const Cells cells(*t.tensor(from));
            return filled4(t.tensor(stage)->shape(),
                           [&](Index n, Index h, Index i, Index j) { return cell(cells, n, h, i, j); });
          }};
}
StageChange changed(Id stage, const CellRule& cell) {
  return changed(stage, stage, cell);
}

// Weights exp(score) over the sum of them, which begins as said for a head.
CellRule softmax_with(const std::function<double(Index h)>& beside) {
  return [=](const Cells& x, Index n, Index h, Index l, Index s) {
    double sum = beside(h);
    for (Index j = 0; j < token_count; ++j) sum += std::exp(x(n, h, l, j));
    return std::exp(x(n, h, l, s)) / sum;
  };
}

// The bias of ALiBi with slope(h), beside a causal mask.
StageChange sloped(const std::function<double(Index h)>& slope) {
  return {Id::mask_bias, [slope](const Trace& t) {
            return filled4(t.tensors.scores->shape(), [&](Index, Index h, Index l, Index s) {
              return s > l ? -infinity : -slope(h) * static_cast<double>(l - s);
            });
          }};
}

// mask_bias with its slices taken from others.
StageChange mask_of(const std::function<std::pair<Index, Index>(Index n, Index h)>& from) {
  return changed(Id::mask_bias, [from](const Cells& m, Index n, Index h, Index l, Index s) {
    const auto [batch, head] = from(n, h);
    return m(batch, head, l, s);
  });
}

// (N,H,L,D) from the numbers of `joined` in the order (L,N,H,D).
StageChange length_first(Id heads, Id joined) {
  return {heads, [=](const Trace& t) {
            const Tensor& x = *t.tensor(joined);
            const Shape& s = t.tensor(heads)->shape();
            return filled4(s, [&](Index n, Index h, Index l, Index d) {
              return x.flat(((l * s.size(0) + n) * s.size(1) + h) * s.size(3) + d);
            });
          }};
}

// The rows of in_proj_weight and in_proj_bias, row i from row source(i).
std::function<void(AttentionInputs&)> rows_from(const std::function<Index(Index)>& source) {
  return [source](AttentionInputs& inputs) {
    for (TensorPtr* rows : {&inputs.tensors.in_proj_weight, &inputs.tensors.in_proj_bias}) {
      Tensor result = **rows;
      const Index count = result.shape().size(0), width = result.size() / count;
      for (Index row = 0; row < count; ++row)
        for (Index e = 0; e < width; ++e)
          result.set_flat(row * width + e, (*rows)->flat(source(row) * width + e));
      *rows = shared_tensor(std::move(result));
    }
  };
}

// Of 2 heads of 4 columns. Where row (part, h, d) of q, k and v is stored head by head, and which row is
// stored at a place.
Index place_by_head(Index row) {
  return row / 4 % 2 * 12 + row / 8 * 4 + row % 4;
}
Index row_by_head(Index place) {
  return place / 4 % 3 * 8 + place / 12 * 4 + place % 4;
}

// The columns of each head of 4 of x (N,L,H·D): 0, 2, 1, 3. Of 8: neighbours to halves, or halves to
// neighbours.
StageChange columns_reordered(Id id, const std::vector<Index>& order) {
  return {id, [=](const Trace& t) {
            const Cells own(*t.tensor(id));
            const auto width = static_cast<Index>(order.size());
            return filled3(t.tensor(id)->shape(), [&](Index n, Index l, Index c) {
              return own(n, l, c / width * width + order[static_cast<std::size_t>(c % width)]);
            });
          }};
}

double rounded_to_f16(double x) {
  return rounded_to(f16, x);
}

}  // namespace

StageChange left_out(Id stage, Id holds) {
  return {stage, [=](const Trace& t) { return *t.tensor(holds); }};
}

StageChange joined_as(const std::function<double(const Cells&, Index n, Index l, Index c)>& cell) {
  return {Id::concat, [=](const Trace& t) {
            const Cells own(*t.tensors.head_output);
            return filled3(t.tensors.concat->shape(),
                           [&](Index n, Index l, Index c) { return cell(own, n, l, c); });
          }};
}

std::vector<WrongProgram> wrong_programs() {
  std::vector<WrongProgram> all;
  const auto add = [&](const char* named, AttentionInputs inputs, std::vector<StageChange> mistake,
                       std::function<void(AttentionInputs&)> other_inputs = {}) {
    all.push_back({named, std::move(inputs), std::move(mistake), std::move(other_inputs)});
  };
  AttentionInputs both = padded();
  both.options.is_causal = true;
  const AttentionInputs two_heads = self_attention(small_options(2, 2, 4));
  add("in_proj_weight are taken as [H,3,D]", two_heads, {}, rows_from(place_by_head));
  add("in_proj_weight is stored as [H,3,D]", two_heads, {}, rows_from(row_by_head));
  add("in_proj_weight are taken as [H,D,3]", two_heads, {},
      rows_from([](Index row) { return row % 8 * 3 + row / 8; }));
  add("in_proj_weight is stored as [H,D,3]", two_heads, {},
      rows_from([](Index place) { return place % 3 * 8 + place / 3; }));
  // 2 groups of 2 heads of q, one of k and one of v, of 4 columns: rows 0–15 are q, 16–23 k, 24–31 v.
  add("in_proj_weight is stored as [G,H/G+2,D]", self_attention(small_options(4, 2, 4)), {},
      rows_from([](Index place) {
        const Index group = place / 16, block = place / 4 % 4;
        return (block < 2 ? group * 8 + block * 4 : 8 + block * 8 - 8 + group * 4) + place % 4;
      }));
  AttentionInputs wide_rotary = self_attention(small_options(2, 2, 8));
  wide_rotary.options.rotary_base = 100.0;
  const std::vector<Index> to_halves{0, 2, 4, 6, 1, 3, 5, 7}, to_neighbours{0, 4, 1, 5, 2, 6, 3, 7};
  add("rows of W_k alone are reordered from neighbouring columns", wide_rotary,
      {columns_reordered(Id::k, to_halves)});
  add("rows of W_k alone are reordered from halves", wide_rotary, {columns_reordered(Id::k, to_neighbours)});
  add("rows of W_q alone are reordered from neighbouring columns", wide_rotary,
      {columns_reordered(Id::q, to_halves)});
  add("rows of W_q alone are reordered from halves", wide_rotary, {columns_reordered(Id::q, to_neighbours)});
  add("W_q and W_k are reordered from halves", wide_rotary,
      {columns_reordered(Id::q, to_neighbours), columns_reordered(Id::k, to_neighbours)});
  add("rotates neighbouring columns (2j, 2j + 1) together", wide_rotary,
      {columns_reordered(Id::q, to_halves), columns_reordered(Id::k, to_halves)});
  add("summed, not concatenated: every head", plain(),
      {changed(Id::head_output, [](const Cells& x, Index n, Index, Index l, Index d) {
        return x(n, 0, l, d) + x(n, 1, l, d) + x(n, 2, l, d) + x(n, 3, l, d);
      })});
  add("averaged, not concatenated, and projected by the first", plain(),
      {{Id::output, [](const Trace& t) {
          const Cells x(*t.tensors.head_output);
          const Tensor &w = *t.tensors.out_proj_weight, &b = *t.tensors.out_proj_bias;
          return filled3(t.tensors.output->shape(), [&](Index n, Index l, Index e) {
            double sum = b.flat(e);
            for (Index c = 0; c < 16; ++c) sum += x(n, c / 4, l, c % 4) / 4 * w.flat(e * 16 + c % 4);
            return sum;
          });
        }}});
  add("the softmax is computed in f16", causal(),
      {changed(Id::attn_weights, Id::masked_scores, [](const Cells& x, Index n, Index h, Index l, Index s) {
        double maximum = -infinity, sum = 0.0;
        for (Index j = 0; j <= l; ++j) maximum = std::max(maximum, rounded_to_f16(x(n, h, l, j)));
        const auto power = [&](Index j) {
          return rounded_to_f16(std::exp(rounded_to_f16(rounded_to_f16(x(n, h, l, j)) - maximum)));
        };
        for (Index j = 0; j <= l; ++j) sum += power(j);
        return s > l ? 0.0 : rounded_to_f16(power(s) / rounded_to_f16(sum));
      })});
  add("the softmax is computed in bf16", plain(),
      {{Id::attn_weights, [](const Trace& t) {
          const Tensor rounded =
              mapped_cells(*t.tensors.masked_scores, [](double x) { return rounded_to(bf16, x); });
          return mapped_cells(softmax(rounded, FullyMaskedRows::nan),
                              [](double x) { return rounded_to(bf16, x); });
        }}});
  AttentionInputs unscaled = causal();
  unscaled.options.scale = 1.0;
  unscaled.tensors.attn_mask = random_tensor({{"L", token_count}, {"S", token_count}}, "bias");
  add("together with what a mask has added", unscaled,
      {left_out(Id::scaled_scores, Id::scores), mapped(Id::masked_scores, [](double x) { return x / 2; })});
  AttentionInputs with_bias = plain();
  with_bias.tensors.attn_mask = random_tensor({{"L", token_count}, {"S", token_count}}, "bias");
  add("divided by √D along with the scores", with_bias,
      {{Id::masked_scores, [](const Trace& t) {
          const Cells x(*t.tensors.scores);
          return filled4(t.tensors.scores->shape(), [&](Index n, Index h, Index l, Index s) {
            return (x(n, h, l, s) + t.tensors.attn_mask->flat(l * token_count + s)) / 2;
          });
        }}});
  using Blocks = std::function<bool(const Trace&, Index n, Index l, Index s)>;
  const std::tuple<const char*, AttentionInputs, Blocks> blocks[] = {
      {"own position (it keeps j < i", causal(), [](auto&, Index, Index l, Index s) { return s >= l; }},
      {"the next position (it keeps j ≤ i + 1", causal(),
       [](auto&, Index, Index l, Index s) { return s > l + 1; }},
      {"the causal mask is transposed", causal(), [](auto&, Index, Index l, Index s) { return s < l; }},
      {"the causal mask is inverted", causal(), [](auto&, Index, Index l, Index s) { return s <= l; }},
      {"applied to the queries (axis L), not", padded(),
       [](auto& t, Index n, Index l, Index) { return pads(t, n, l); }},
      {"applied to the queries (axis L), too", padded(),
       [](auto& t, Index n, Index l, Index s) { return pads(t, n, l) || pads(t, n, s); }},
      {"the window keeps the keys on both sides of a query", windowed(true),
       [](auto&, Index, Index l, Index s) { return std::abs(l - s) >= 3; }},
      {"the window keeps the keys behind a query, not those ahead", windowed(false),
       [](auto&, Index, Index l, Index s) { return s > l || l - s >= 3; }},
      {"the padding of attn_mask is applied, its causal part is not", merged_masks_given(),
       [](auto&, Index n, Index, Index s) { return s >= token_count - 1 - n; }},
      {"the causal part of attn_mask is applied, its padding is not", merged_masks_given(),
       [](auto&, Index, Index l, Index s) { return s > l; }},
      {"there is no causal mask; then", both, [](auto& t, Index n, Index, Index s) { return pads(t, n, s); }},
      {"key_padding_mask is not applied; then", both, [](auto&, Index, Index l, Index s) { return s > l; }}};
  for (const auto& [named, inputs, rule] : blocks) add(named, inputs, {blocked(rule)});
  add("applied after the softmax: blocked", causal(),
      {left_out(Id::masked_scores, Id::scaled_scores),
       changed(Id::attn_weights, [](const Cells& p, Index n, Index h, Index l, Index s) {
         return s > l ? 0.0 : p(n, h, l, s);
       })});
  add("blocked cells are filled with -3.5", causal(),
      {mapped(Id::masked_scores, [](double x) { return std::isinf(x) ? -3.5 : x; })});
  add("the sign of sin θ is opposite; then", rotary(),
      {turned(Id::q_rotary, Id::q_heads, -1, 0), turned(Id::k_rotary, Id::k_heads, -1, 0)});
  add("q alone is rotated", rotary(), {left_out(Id::k_rotary, Id::k_heads)});
  add("counted from 1, not from 0, in q alone", rotary(), {turned(Id::q_rotary, Id::q_heads, 1, 1)});
  add("v is rotated by its positions (rotary), too", rotary(), {turned(Id::v_heads, Id::v_heads, 1, 0)});
  AttentionInputs grouped = self_attention(small_options(4, 2, 4));
  add("the heads of v alone are tiled", grouped, {{Id::head_output, [](const Trace& t) {
                                                     return weighted_sum(*t.tensors.dropped_weights,
                                                                         tile_kv(*t.tensors.v_heads, 4));
                                                   }}});
  add("the heads of k alone are tiled", grouped, {{Id::scores, [](const Trace& t) {
                                                     return attention_scores(*t.tensors.q_heads,
                                                                             tile_kv(*t.tensors.k_heads, 4),
                                                                             t.tensors.scores->shape());
                                                   }}});
  add("the weights are transposed", plain(),
      {changed(Id::attn_weights,
               [](const Cells& p, Index n, Index h, Index l, Index s) { return p(n, h, s, l); })});
  add("joined in the order 2, 0, 3, 1", plain(), {joined_as([](const Cells& own, Index n, Index l, Index c) {
        constexpr Index order[] = {2, 0, 3, 1};
        return own(n, order[c / 4], l, c % 4);
      })});
  add("joined by a view of (N,H,L,Dv), without", plain(),
      {{Id::concat, [](const Trace& t) { return t.tensors.head_output->reshaped(t.tensors.concat->shape()); }}});
  add("the residual is in the output", plain(), {{Id::output, [](const Trace& t) {
                                                    Tensor sum = *t.tensors.output;
                                                    for (Index i = 0; i < sum.size(); ++i)
                                                      sum.set_flat(i, sum.flat(i) + t.tensors.query->flat(i));
                                                    return sum;
                                                  }}});
  AttentionInputs with_residual = plain();
  with_residual.options.residual = true;
  add("the residual is left out", with_residual, {left_out(Id::residual_output, Id::output)});
  add("there is no output gate", gated_inputs(), {left_out(Id::gated_concat, Id::concat)});
  add("the output gate has no σ", gated_inputs(), {gated_by([](double x, double gate) { return x * gate; })});
  add("the output gate is SiLU", gated_inputs(),
      {gated_by([](double x, double gate) { return x * gate / (1.0 + std::exp(-gate)); })});
  add("the output gate is turned round", gated_inputs(),
      {gated_by([](double x, double gate) { return x / (1.0 + std::exp(gate)); })});
  add("the output gate is applied after the output projection", gated_inputs(),
      {{Id::output, [](const Trace& t) {
          Tensor result = *t.tensors.output;
          const Tensor &w = *t.tensors.out_proj_weight, &b = *t.tensors.out_proj_bias;
          for (Index i = 0; i < result.size(); ++i) {
            const Index row = i / 16 * 16, e = i % 16;
            double sum = b.flat(e);
            for (Index c = 0; c < 16; ++c) sum += t.tensors.concat->flat(row + c) * w.flat(e * 16 + c);
            result.set_flat(i, sum / (1.0 + std::exp(-t.tensors.output_gate->flat(i))));
          }
          return result;
        }}});
  add("capped by 1.7·tanh", plain(),
      {mapped(Id::scaled_scores, [](double x) { return 1.7 * std::tanh(x / 1.7); })});
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs latent = latents(layout);  // C = 5, Dn = 3, R = 2
    const double own = std::sqrt(5.0);
    add("1/√(C+R), the width of an absorbed key", latent,
        {mapped(Id::scaled_scores, [own](double x) { return x * own / std::sqrt(7.0); })});
    add("1/√Dn, without the columns of k_rot", latent,
        {mapped(Id::scaled_scores, [own](double x) { return x * own / std::sqrt(3.0); })});
    add("the scores are scaled by 0.29", latent,
        {mapped(Id::scaled_scores, [own](double x) { return x * own * 0.29; })});
  }
  add("the scores are scaled by 0.43", plain(),
      {mapped(Id::scaled_scores, [](double x) { return x * 2 * 0.43; })});
  add("1 is added to the sum of the softmax: exp(score)", plain(),
      {changed(Id::attn_weights, Id::masked_scores, softmax_with([](Index) { return 1.0; }))});
  add("the softmax runs over the queries", plain(),
      {changed(Id::attn_weights, Id::masked_scores, [](const Cells& x, Index n, Index h, Index l, Index s) {
        double sum = 0.0;
        for (Index j = 0; j < token_count; ++j) sum += std::exp(x(n, h, j, s));
        return std::exp(x(n, h, l, s)) / sum;
      })});
  add("k stands in the place of v", plain(),
      {{Id::head_output,
        [](const Trace& t) { return weighted_sum(*t.tensors.dropped_weights, *t.tensors.k_heads); }}});
  for (const double number : {-1e9, -1e4, -65504.0})
    add("each mask adds a large negative number of its own", padded_on_the_left(),
        {{Id::masked_scores, [number](const Trace& t) {
            const Cells x(*t.tensors.scaled_scores);
            return filled4(t.tensors.scores->shape(), [&](Index n, Index h, Index l, Index s) {
              return x(n, h, l, s) + ((s > l ? number : 0.0) + (pads(t, n, s) ? number : 0.0));
            });
          }}});
  for (const bool is_causal : {true, false}) {
    add("left bound only: query i keeps every key from i − 2 on", windowed(is_causal),
        {blocked([](const Trace&, Index, Index l, Index s) { return s < l - 2; })});
    add("right bound only: query i keeps every key up to i + 2", windowed(is_causal),
        {blocked([](const Trace&, Index, Index l, Index s) { return s > l + 2; })});
  }
  struct Slopes {
    const char* named;
    Index heads;
    std::function<double(double h)> slope;
  };
  const Slopes slopes[] = {
      {"are not followed by every second one", 6, [](double h) { return std::exp2(-8.0 * (h + 1) / 6.0); }},
      {"off by one: 2^(−8h/H)", 4, [](double h) { return std::exp2(-8.0 * h / 4.0); }},
      {"off by one: 2^(−8h/H)", 6, [](double h) { return std::exp2(-8.0 * h / 6.0); }},
      {"off by one: 2^(−8(h+2)/H)", 4, [](double h) { return std::exp2(-2.0 * (h + 2)); }},
      {"slopes stand in the reverse order", 4, [](double h) { return std::exp2(-2.0 * (4 - h)); }},
      {"sorted, the steepest first", 6, [](double h) { return std::exp2(h < 4 ? -1.0 - h : -2.0 * (h - 1)); }},
      {"slope is 0.3 in every head", 4, [](double) { return 0.3; }},
      {"ALiBi's slopes are 0.7, 0.2, 0.45, 0.1", 4, [](double h) {
         return h == 0 ? 0.7 : h == 1 ? 0.2 : h == 2 ? 0.45 : 0.1;
       }}};
  for (const Slopes& wrong : slopes)
    add(wrong.named, with_alibi(wrong.heads),
        {sloped([slope = wrong.slope](Index h) { return slope(static_cast<double>(h)); })});
  add("and the sinks are 0.5, -1, 0.2, 2", plain(),
      {changed(Id::attn_weights, Id::masked_scores, softmax_with([](Index h) {
                 constexpr double sinks[] = {0.5, -1.0, 0.2, 2.0};
                 return std::exp(sinks[h]);
               }))});
  add("heads of attn_mask are taken in the order 2, 0, 3, 1", masked_by_head(), {mask_of([](Index n, Index h) {
        constexpr Index order[] = {2, 0, 3, 1};
        return std::pair(n, order[h]);
      })});
  add("batches of attn_mask are taken in the reverse order", masked_by_head(),
      {mask_of([](Index n, Index h) { return std::pair(1 - n, h); })});
  add("first axis counts h·N + n", masked_by_head(),
      {mask_of([](Index n, Index h) { return std::pair((h * 2 + n) / 4, (h * 2 + n) % 4); })});
  add("q, k and v are split into heads by reading the numbers as (L,N,H,D)", plain(),
      {length_first(Id::q_heads, Id::q), length_first(Id::k_heads, Id::k), length_first(Id::v_heads, Id::v)});
  add("v is split into heads by reading the numbers as (L,N,H,D)", plain(), {length_first(Id::v_heads, Id::v)});
  add("joined by reading the numbers as (L,N,H,Dv)", plain(),
      {{Id::concat, [](const Trace& t) {
          const Tensor& x = *t.tensors.head_output;
          return filled3(t.tensors.concat->shape(),
                         [&](Index n, Index l, Index c) { return x.flat((l * 2 + n) * 16 + c); });
        }}});
  add("kᵀ is k reshaped to (D,S)", plain(),
      {{Id::scores, [](const Trace& t) {
          const Cells q(*t.tensors.q_heads);
          const Tensor& k = *t.tensors.k_heads;
          return filled4(t.tensors.scores->shape(), [&](Index n, Index h, Index l, Index s) {
            double sum = 0.0;
            for (Index d = 0; d < 4; ++d)
              sum += q(n, h, l, d) * k.flat((n * 4 + h) * 4 * token_count + d * token_count + s);
            return sum;
          });
        }}});
  return all;
}

}  // namespace headwise::test
