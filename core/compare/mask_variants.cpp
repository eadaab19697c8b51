// Masks that block different cells from ours: one key too far, transposed, inverted, applied to the queries.
#include <fmt/format.h>
#include <algorithm>

#include <utility>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/check_attention_inputs.h"
#include "core/compare/mask_patterns.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;
TensorPtr inverted(const Tensor& mask) {
  Tensor result = mask;
  for (Index i = 0; i < result.size(); ++i) result.set_flat(i, result.flat(i) == 0.0 ? 1.0 : 0.0);
  return shared_tensor(std::move(result));
}

// The mask_bias that `choice` alone gives for these inputs.
Tensor bias_of(const AttentionInputs& inputs, const MaskChoice& choice) {
  return merged_masks(*begun_trace(inputs), choice);
}

// Whether attn_mask is just an explicit causal mask with this alignment.
bool is_causal_mask(const AttentionInputs& inputs, CausalAlignment alignment) {
  if (!inputs.tensors.attn_mask) return false;
  AttentionInputs causal = inputs;
  causal.tensors.attn_mask = nullptr;
  causal.options.is_causal = true;
  drop_window(causal.options);
  causal.options.alibi = false;
  causal.options.causal_alignment = alignment;
  return identical(bias_of(inputs, {true, false, false}), bias_of(causal, {false, false, true}));
}

AttentionOptions aligned(AttentionOptions o, CausalAlignment alignment) {
  o.causal_alignment = alignment;
  return o;
}

// Triangles that replace the causal one.
void add_triangles(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  const AttentionSizes sizes = attention_sizes(inputs);
  if (sizes.queries < 2 || sizes.keys < 2 || inputs.tensors.nonpad_kv_seqlen) return;
  std::optional<CausalAlignment> written;  // in attn_mask
  for (const CausalAlignment alignment : {CausalAlignment::top_left, CausalAlignment::bottom_right})
    if (!written && is_causal_mask(inputs, alignment)) written = alignment;
  const bool ours = o.is_causal || written;
  const std::string mask = ours ? "the causal mask" : "there is a causal mask that";
  const MaskChoice others{!written, true, true};
  for (const CausalAlignment alignment : {CausalAlignment::top_left, CausalAlignment::bottom_right}) {
    const Index offset = causal_offset(aligned(o, alignment), sizes.queries, sizes.keys);
    const CausalAlignment own = written.value_or(o.causal_alignment);
    if (alignment != own && sizes.queries == sizes.new_keys()) continue;
    const std::string where = alignment == own                         ? ""
                              : alignment == CausalAlignment::top_left ? ", aligned at the top left"
                                                                       : ", aligned at the bottom right";
    const auto add = [&](const char* what, Blocks blocks) {
      add_with_row_answers(o,
                           {fmt::format("{} {}{}", mask, what, where),
                            [](AttentionInputs& other) { other.options.is_causal = false; },
                            {blocked_where(others, std::move(blocks))}},
                           variants);
    };
    add("blocks one key too many, the query's own position (it keeps j < i, not j ≤ i)",
        [=](Index, Index, Index l, Index s) { return s >= l + offset; });
    add("leaves one key too many, the next position (it keeps j ≤ i + 1, not j ≤ i)",
        [=](Index, Index, Index l, Index s) { return s > l + offset + 1; });
    add("is transposed: it blocks the keys behind a query, not those ahead",
        [=](Index, Index, Index l, Index s) { return s < l + offset; });
    add("is inverted: it blocks what it should keep, and keeps what it should block",
        [=](Index, Index, Index l, Index s) { return s <= l + offset; });
    if (written && alignment != own)
      add("is aligned elsewhere", [=](Index, Index, Index l, Index s) { return s > l + offset; });
  }
}

// A causal mask and padding that were merged into attn_mask, and only one of the two applied.
void add_parts_of_attn_mask(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  if (!inputs.tensors.attn_mask || sizes.queries < 2) return;
  const auto own = std::make_shared<const Tensor>(bias_of(inputs, {true, false, false}));
  const Cells cell(*own);
  // 1 where a key is blocked for every query.
  const auto padding = std::make_shared<const Tensor>(filled3(
      Shape{{"N", sizes.batch}, {"H", sizes.heads}, {"S", sizes.all_keys}}, [&](Index n, Index h, Index s) {
        for (Index l = 0; l < sizes.queries; ++l)
          if (!is_blocked(cell(n, h, l, s))) return 0.0;
        return 1.0;
      }));
  const auto pads = [padding](Index n, Index h, Index s) { return Cells(*padding)(n, h, s) != 0.0; };
  for (const CausalAlignment alignment : {CausalAlignment::top_left, CausalAlignment::bottom_right}) {
    const Index offset = causal_offset(aligned(resolved_options(inputs), alignment), sizes.queries, sizes.keys);
    bool both = true, padded = false, ahead = false;
    filled4(own->shape(), [&](Index n, Index h, Index l, Index s) {
      const bool is_ahead = s < sizes.keys && s > l + offset;
      both = both && (is_ahead || pads(n, h, s)) == is_blocked(cell(n, h, l, s));
      padded = padded || (pads(n, h, s) && !is_ahead);
      ahead = ahead || (is_ahead && !pads(n, h, s));
      return 0.0;
    });
    if (!both || !padded || !ahead) continue;
    const auto add = [&](const char* text, Blocks blocks) {
      add_with_row_answers(inputs.options, {text, {blocked_where({false, true, true}, std::move(blocks))}},
                           variants);
    };
    add("the padding of attn_mask is applied, its causal part is not",
        [pads](Index n, Index h, Index, Index s) { return pads(n, h, s); });
    add("the causal part of attn_mask is applied, its padding is not",
        [offset](Index, Index, Index l, Index s) { return s > l + offset; });
    return;
  }
}

// Whether attn_mask differs between the heads, or between the batches.
bool varies(const Tensor& mask, bool over_heads) {
  const Cells cell(mask);
  bool found = false;
  filled4(mask.shape(), [&](Index n, Index h, Index l, Index s) {
    found = found || cell(n, h, l, s) != (over_heads ? cell(n, 0, l, s) : cell(0, h, l, s));
    return 0.0;
  });
  return found;
}

// attn_mask as a whole: transposed, or off by one key or query; its slices in another order.
void add_attn_mask(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  if (!t.attn_mask) return;
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index queries = sizes.queries, keys = sizes.keys;
  using Cell = std::function<double(const Cells&, Index, Index, Index, Index)>;
  const auto variant_of = [&](std::string text, const Cell& cell) {
    return ProgramVariant{std::move(text),
                          {{Id::mask_bias, [cell, keys](const Trace& so_far) {
                              const Tensor own = merged_masks(so_far, {true, false, false});
                              const Cells of_own(own);
                              return refilled4(merged_masks(so_far, {false, true, true}),
                                               [&](const Cells& rest, Index n, Index h, Index l, Index s) {
                                                 return rest(n, h, l, s) +
                                                        (s < keys ? cell(of_own, n, h, l, s) : 0.0);
                                               });
                            }}}};
  };
  const auto add = [&](const char* text, const Cell& cell) {
    add_with_row_answers(inputs.options, variant_of(text, cell), variants);
  };
  if (queries == keys && queries > 1)
    add("attn_mask is transposed",
        [](const Cells& m, Index n, Index h, Index l, Index s) { return m(n, h, s, l); });
  add("attn_mask is applied one key too far to the right",
      [](const Cells& m, Index n, Index h, Index l, Index s) { return m(n, h, l, s > 0 ? s - 1 : 0); });
  add("attn_mask is applied one key too far to the left",
      [keys](const Cells& m, Index n, Index h, Index l, Index s) {
        return m(n, h, l, s + 1 < keys ? s + 1 : s);
      });
  const Index batch = sizes.batch, heads = sizes.heads;
  const Tensor own = bias_of(inputs, {true, false, false});
  if (varies(own, true)) {
    for (const std::vector<Index>& order : typical_orders(heads))
      variants.push_back(
          variant_of(fmt::format("the heads of attn_mask are taken in the order {}", join(order, ", ")),
                     [order](const Cells& m, Index n, Index h, Index l, Index s) {
                       return m(n, order[static_cast<std::size_t>(h)], l, s);
                     }));
    if (batch > 1)
      add("attn_mask is repeated in place over the batches: slice n·H + h gets the mask of head (n·H + h) // "
          "N",
          [heads, batch](const Cells& m, Index n, Index h, Index l, Index s) {
            return m(n, (n * heads + h) / batch, l, s);
          });
  }
  if (varies(own, false)) {
    add("the batches of attn_mask are taken in the reverse order",
        [batch](const Cells& m, Index n, Index h, Index l, Index s) { return m(batch - 1 - n, h, l, s); });
    if (heads > 1)
      add("attn_mask is tiled over the heads: slice n·H + h gets the mask of batch (n·H + h) % N",
          [heads, batch](const Cells& m, Index n, Index h, Index l, Index s) {
            return m((n * heads + h) % batch, h, l, s);
          });
    if (heads > 1 && t.attn_mask->shape().rank() == 4 && varies(own, true))
      add("attn_mask is taken as (H,N,L,S), not as (N,H,L,S)",
          [heads, batch](const Cells& m, Index n, Index h, Index l, Index s) {
            return m((h * batch + n) / heads, (h * batch + n) % heads, l, s);
          });
  }
  if (sizes.batch > 1)
    add("attn_mask of the first batch is used for all",
        [](const Cells& m, Index, Index h, Index l, Index s) { return m(0, h, l, s); });
  if (sizes.heads > 1)
    add("attn_mask of the first head is used for all",
        [](const Cells& m, Index n, Index, Index l, Index s) { return m(n, 0, l, s); });
}

// The padding mask, by key, in another role.
void add_padding(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  if (!t.key_padding_mask && !t.valid_lens) return;
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index queries = sizes.queries, keys = sizes.keys, batch = sizes.batch, heads = sizes.heads;
  if (batch == 0 || heads == 0 || queries == 0) return;
  const auto bias = std::make_shared<const Tensor>(bias_of(inputs, {false, true, false}));
  const auto pads = [bias](Index n, Index s) { return is_blocked(Cells(*bias)(n, 0, 0, s)); };
  const std::string name = t.key_padding_mask ? "key_padding_mask" : "valid_lens";
  const auto add = [&](const std::string& text, Blocks blocks) {
    add_with_row_answers(
        inputs.options, {name + " " + text, {blocked_where({true, false, true}, std::move(blocks))}}, variants);
  };
  if (queries == keys) {
    add("is applied to the queries (axis L), not to the keys (axis S)",
        [pads](Index n, Index, Index l, Index) { return pads(n, l); });
    add("is applied to the queries (axis L), too, not to the keys (axis S) alone",
        [pads](Index n, Index, Index l, Index s) { return pads(n, l) || pads(n, s); });
    add("blocks only where query and key are both padding",
        [pads](Index n, Index, Index l, Index s) { return pads(n, l) && pads(n, s); });
    const auto zeroed = [&](const char* what, Id id, bool keys_too) {
      ProgramVariant variant{name + what};
      if (!keys_too)
        variant.stages.push_back(
            blocked_where({true, false, true}, [](Index, Index, Index, Index) { return false; }));
      variant.stages.push_back(
          {id, [id, pads](const Trace& so_far) {
             const Tensor& own = required(so_far, id);
             const Cells cell(own);
             if (own.shape().rank() == 3)
               return filled3(own.shape(),
                              [&](Index n, Index l, Index e) { return pads(n, l) ? 0.0 : cell(n, l, e); });
             return refilled4(own, [&](const Cells& cells, Index n, Index h, Index l, Index s) {
               return pads(n, l) ? 0.0 : cells(n, h, l, s);
             });
           }});
      variants.push_back(std::move(variant));
    };
    zeroed(" also sets the weights of padded queries to 0", Id::attn_weights, true);
    zeroed(" also sets the output of padded queries to 0", Id::output, true);
    zeroed(" sets the weights of padded queries to 0 and is not applied to the keys", Id::attn_weights, false);
    zeroed(" sets the output of padded queries to 0 and is not applied to the keys", Id::output, false);
  }
  add("is read from the other end: padding on the left is taken for padding on the right",
      [pads, keys](Index n, Index, Index, Index s) { return s < keys && pads(n, keys - 1 - s); });
  add("is one key too long: the last key that is not padding is blocked, too",
      [pads, keys](Index n, Index, Index, Index s) { return pads(n, s) || (s + 1 < keys && pads(n, s + 1)); });
  add("is one key too short: the first key that is padding is kept",
      [pads](Index n, Index, Index, Index s) { return pads(n, s) && (s == 0 || pads(n, s - 1)); });
  if (batch == 1) return;
  add("of the first batch is used for all", [pads](Index, Index, Index, Index s) { return pads(0, s); });
  add("of the batches is taken in the reverse order",
      [pads, batch](Index n, Index, Index, Index s) { return pads(batch - 1 - n, s); });
  if (heads > 1)
    add("is tiled over the heads, so that slice n·H + h gets the padding of batch (n·H + h) % N",
        [pads, heads, batch](Index n, Index h, Index, Index s) { return pads((n * heads + h) % batch, s); });
}

// True and False swapped, in one mask or in all.
void add_inversions(const AttentionInputs& inputs, ProgramVariants& variants) {
  using Mask = TensorPtr TraceTensors::*;
  const auto invert = [&](const std::string& names, std::vector<Mask> masks) {
    for (const Mask mask : masks)
      if (!(inputs.tensors.*mask) || (inputs.tensors.*mask)->dtype() != DType::boolean) return;
    add_with_row_answers(inputs.options,
                         {"True and False of " + names + " have the opposite meaning",
                          [masks](AttentionInputs& other) {
                            for (const Mask mask : masks)
                              other.tensors.*mask = inverted(*(other.tensors.*mask));
                          }},
                         variants);
  };
  constexpr Mask attn_mask = &TraceTensors::attn_mask, padding = &TraceTensors::key_padding_mask;
  invert("attn_mask", {attn_mask});
  invert("key_padding_mask", {padding});
  invert("both attn_mask and key_padding_mask", {attn_mask, padding});
  const AttentionOptions& o = inputs.options;
  const bool any = inputs.tensors.attn_mask || inputs.tensors.key_padding_mask || inputs.tensors.valid_lens ||
                   inputs.tensors.nonpad_kv_seqlen || seen_by_position(o).bounds();
  if (!any) return;
  const auto inverse = [](const Trace& so_far) {
    return mapped_cells(merged_masks(so_far, {}), [](double cell) {
      return is_blocked(cell) ? 0.0 : -std::numeric_limits<double>::infinity();
    });
  };
  add_with_row_answers(
      o,
      {"the masks are inverted as a whole: what ours blocks is kept, and what ours keeps blocked",
       {{Id::mask_bias, inverse}}},
      variants);
}

// Blocked only where each of several masks blocks.
void add_conjunction(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  const bool by_position = seen_by_position(inputs.options).bounds();
  const std::vector<std::pair<bool, MaskChoice>> kinds{
      {t.attn_mask != nullptr, {true, false, false}},
      {t.key_padding_mask || t.valid_lens, {false, true, false}},
      {by_position, {false, false, true}}};
  std::vector<MaskChoice> present;
  for (const auto& [there, choice] : kinds)
    if (there) present.push_back(choice);
  if (present.size() < 2) return;
  const auto conjunction = [present](const Trace& so_far) {
    std::vector<Tensor> each;
    for (const MaskChoice& choice : present) each.push_back(merged_masks(so_far, choice));
    Tensor result = each.front();
    for (Index i = 0; i < result.size(); ++i)
      result.set_flat(i, std::ranges::all_of(each, [i](const Tensor& one) { return is_blocked(one.flat(i)); })
                             ? -std::numeric_limits<double>::infinity()
                             : 0.0);
    return result;
  };
  add_with_row_answers(inputs.options,
                       {"a cell is blocked only where every mask blocks it, not where any does",
                        {{Id::mask_bias, conjunction}}},
                       variants);
}

}  // namespace

void add_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  add_triangles(inputs, variants);
  add_attn_mask(inputs, variants);
  add_parts_of_attn_mask(inputs, variants);
  add_padding(inputs, variants);
  add_inversions(inputs, variants);
  add_conjunction(inputs, variants);
}

}  // namespace headwise
