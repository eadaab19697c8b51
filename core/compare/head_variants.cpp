// Heads that are split, repeated, ordered or merged differently from ours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/latent_attention.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/compare/program_variants.h"
#include "core/compare/tensor_readings.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;
using Axes = std::array<int, 4>;

// The cells of x with its axes in another order, row by row, reshaped to `out`,
// which has the same number of cells.
Tensor laid_out(const Tensor& x, const Axes& axes, const Shape& out) {
  std::vector<Axis> order;
  for (const int axis : axes) order.push_back(x.shape().axes()[static_cast<std::size_t>(axis)]);
  const Cells cell(x);
  const Tensor moved = filled4(Shape(std::move(order)), [&](Index a, Index b, Index c, Index d) {
    std::array<Index, 4> at{};
    const std::array<Index, 4> index{a, b, c, d};
    for (std::size_t i = 0; i < 4; ++i) at[static_cast<std::size_t>(axes[i])] = index[i];
    return cell(at[0], at[1], at[2], at[3]);
  });
  return moved.reshaped(out);
}

std::string axis_letters(const Axes& axes, const std::array<const char*, 4>& names) {
  std::vector<std::string> text;
  for (const int axis : axes) text.emplace_back(names[static_cast<std::size_t>(axis)]);
  return fmt::format("({})", join(text, ","));
}

// q (N,L,H·D) as (N,H,L,D) by viewing its numbers in this order of (N,L,H,D).
StageChange split_by_view(Id heads, Id joined, const Axes& axes) {
  return {heads, [joined, axes](const Trace& so_far) {
            const Tensor& x = required(so_far, joined);
            const bool queries = joined == Id::q;
            const Index count = queries ? so_far.options.num_heads : so_far.options.num_kv_heads;
            const Shape& s = x.shape();
            const Shape apart{s.axes()[0], s.axes()[1], {"H", count}, {"D", s.size(2) / count}};
            return laid_out(x.reshaped(apart), axes,
                            Shape{s.axes()[0],
                                  {queries ? "H" : "G", count},
                                  s.axes()[1],
                                  {joined == Id::v ? "Dv" : "D", s.size(2) / count}});
          }};
}

// q (N,L,H·D) as (N,H,L,D) by reading its numbers as if they lay in this order of (N,H,L,D).
StageChange split_by_reading(Id heads, Id joined, const AxisOrder& order) {
  return {heads, [joined, heads, order](const Trace& so_far) {
            return in_our_order(required(so_far, joined), required(so_far, heads).shape(), order);
          }};
}

// The heads' output as (N,L,H·Dv) by reading its numbers as if they lay in this order of (N,L,H,Dv).
StageChange merged_by_reading(const AxisOrder& order) {
  return {Id::concat, [order](const Trace& so_far) {
            const Tensor& x = *so_far.tensors.head_output;
            const std::vector<Axis>& axes = x.shape().axes();
            return in_our_order(x, Shape{axes[0], axes[2], axes[1], axes[3]}, order)
                .reshaped(so_far.tensors.concat->shape());
          }};
}

StageChange merged_by_view(const Axes& axes) {
  return {Id::concat, [axes](const Trace& so_far) {
            const Tensor& x = *so_far.tensors.head_output;
            return laid_out(x, axes, so_far.tensors.concat->shape());
          }};
}

struct Split {
  const char* name;
  Id heads, joined;
};
constexpr Split head_splits[]{{"q", Id::q_heads, Id::q}, {"k", Id::k_heads, Id::k}, {"v", Id::v_heads, Id::v}};

// Of latents, q alone is split.
std::span<const Split> splits_of(const AttentionOptions& o) {
  return std::span(head_splits).first(is_latent(o) ? 1 : std::size(head_splits));
}

template <class Change>
std::vector<StageChange> each_split(const Change& change) {
  std::vector<StageChange> stages;
  for (const Split& split : head_splits) stages.push_back(change(split));
  return stages;
}

void add_views(const AttentionInputs& inputs, ProgramVariants& variants) {
  if (!projects(inputs.options.op) || !inputs.options.head_gain.empty()) return;
  const std::array<const char*, 4> split_names{"N", "L", "H", "D"}, merge_names{"N", "H", "L", "Dv"};
  const auto split_all = [](const Axes& axes) {
    return each_split([&](const Split& split) { return split_by_view(split.heads, split.joined, axes); });
  };
  constexpr Axes as_stored{0, 1, 2, 3};
  const bool latents = is_latent(inputs.options);  // no k and no v of all heads is split
  if (!latents) {
    variants.push_back(
        {"q, k and v are split into heads by a view (N,H,L,D) of (N,L,H,D), without a transpose",
         split_all(as_stored)});
    auto both = split_all(as_stored);
    both.push_back(merged_by_view(as_stored));
    variants.push_back({"the heads are split and joined by views, without a transpose", both});
  }
  variants.push_back(
      {"the heads are joined by a view of (N,H,L,Dv), without a transpose", {merged_by_view(as_stored)}});
  for (const auto& [name, heads, joined] : splits_of(inputs.options))
    variants.push_back({fmt::format("{} is split into heads by a view, without a transpose", name),
                        {split_by_view(heads, joined, as_stored)}});
  const std::vector<StageChange> strided = each_split([](const Split& split) -> StageChange {
    return {split.heads, [joined = split.joined](const Trace& so_far) {
              const Tensor& x = required(so_far, joined);
              const Index count = joined == Id::q ? so_far.options.num_heads : so_far.options.num_kv_heads;
              const Cells cell(x);
              const Shape& s = x.shape();
              return filled4(Shape{s.axes()[0], {"H", count}, s.axes()[1], {"D", s.size(2) / count}},
                             [&](Index n, Index h, Index l, Index d) { return cell(n, l, d * count + h); });
            }};
  });
  const StageChange strided_merge = merged_by_view({0, 2, 3, 1});  // (N,L,Dv,H)
  if (!latents) {
    variants.push_back(
        {"a head owns every H-th column, where ours owns D neighbouring ones: (D,H), not (H,D)",
         {strided[0], strided[1], strided[2], strided_merge}});
    variants.push_back(
        {"q, k and v are split as (D,H), every H-th column one head, and joined as (H,D)", strided});
  }
  Axes axes{0, 1, 2, 3};
  while (std::ranges::next_permutation(axes).found) {
    if (axes != Axes{0, 2, 1, 3}) {
      const std::string text = axis_letters(axes, split_names);
      if (!latents)
        variants.push_back(
            {fmt::format("q, k and v are split into heads by a view of {}, where ours is (N,H,L,D)", text),
             split_all(axes)});
      variants.push_back({fmt::format("the heads are joined by a view of {}, where ours is (N,L,H,Dv)",
                                      axis_letters(axes, merge_names)),
                          {merged_by_view(axes)}});
    }
  }
}

// A reshape in place of a permute: programs that compute with the length first, or with the keys transposed.
// Orders that differ in axes of size 1 alone are the same.
void add_reshapes(const AttentionInputs& inputs, ProgramVariants& variants) {
  if (!projects(inputs.options.op)) return;
  const AttentionSizes sizes = attention_sizes(inputs);
  const Shape split{{"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"D", sizes.head_dim}};
  const Shape merged{{"N", sizes.batch}, {"L", sizes.queries}, {"H", sizes.heads}, {"Dv", sizes.v_head_dim}};
  const auto moved = [](const Shape& shape, const AxisOrder& order) {
    std::vector<int> axes;
    for (const std::vector<int>& group : order.groups)
      if (shape.size(group.front()) != 1) axes.push_back(group.front());
    return axes;
  };
  const AxisOrder in_place{{{0}, {1}, {2}, {3}}}, swapped{{{0}, {2}, {1}, {3}}};
  // The right order and the one in add_views come first.
  std::vector<std::vector<int>> splits{moved(split, in_place), moved(split, swapped)};
  std::vector<std::vector<int>> merges{moved(merged, in_place), moved(merged, swapped)};
  const auto is_new = [](std::vector<std::vector<int>>& seen, std::vector<int> axes) {
    if (std::ranges::find(seen, axes) != seen.end()) return false;
    seen.push_back(std::move(axes));
    return true;
  };
  constexpr const char* mistake = "a reshape in place of a permute";
  for (const AxisOrder& order :
       {AxisOrder{{{2}, {0}, {1}, {3}}}, AxisOrder{{{2}, {1}, {0}, {3}}}, AxisOrder{{{1}, {0}, {2}, {3}}},
        AxisOrder{{{1}, {2}, {0}, {3}}}, AxisOrder{{{0}, {1}, {3}, {2}}}}) {
    if (!is_new(splits, moved(split, order))) continue;
    const std::vector<StageChange> each =
        each_split([&](const Split& cut) { return split_by_reading(cut.heads, cut.joined, order); });
    const std::string as =
        fmt::format("split into heads by reading the numbers as {}: {}", order_text(split, order), mistake);
    const std::size_t count = splits_of(inputs.options).size();
    if (count == each.size()) variants.push_back({"q, k and v are " + as, each});
    for (std::size_t i = 0; i < count; ++i)
      variants.push_back({fmt::format("{} is {}", head_splits[i].name, as), {each[i]}});
  }
  if (!inputs.options.head_gain.empty()) return;
  for (const AxisOrder& order :
       {AxisOrder{{{1}, {0}, {2}, {3}}}, AxisOrder{{{1}, {2}, {0}, {3}}}, AxisOrder{{{2}, {0}, {1}, {3}}},
        AxisOrder{{{2}, {1}, {0}, {3}}}, AxisOrder{{{0}, {1}, {3}, {2}}}})
    if (is_new(merges, moved(merged, order)))
      variants.push_back({fmt::format("the heads are joined by reading the numbers as {}: {}",
                                      order_text(merged, order), mistake),
                          {merged_by_reading(order)}});
}

// Key/value heads that are repeated differently.
void add_copies(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index heads = sizes.heads, kv_heads = sizes.kv_heads;
  if (heads == kv_heads || kv_heads == 0) return;
  const auto scores_with = [](std::function<Tensor(const Tensor&)> copies) {
    return StageChange{Id::scores, [copies = std::move(copies)](const Trace& so_far) {
                         const TraceTensors& t = so_far.tensors;
                         return attention_scores(*queries_of_scores(t, so_far.options),
                                                 copies(*keys_of_scores(t, so_far.options)), t.scores->shape());
                       }};
  };
  const auto output_with = [](std::function<Tensor(const Tensor&)> copies) {
    return StageChange{Id::head_output, [copies = std::move(copies)](const Trace& so_far) {
                         return weighted_sum(*so_far.tensors.dropped_weights, copies(*so_far.tensors.v_heads));
                       }};
  };
  const auto tiled = [heads](const Tensor& x) { return tile_kv(x, heads); };
  const auto read_from = [heads](auto source) {
    return [=](const Tensor& x) {
      const std::vector<Axis>& axes = x.shape().axes();
      return filled4(
          Shape{axes[0], {"H", heads}, axes[2], axes[3]},
          [&, cell = Cells(x)](Index n, Index h, Index s, Index d) { return cell(n, source(h), s, d); });
    };
  };
  const auto first = read_from([](Index) { return 0; });
  const auto backwards = read_from([=](Index h) { return kv_heads - 1 - kv_head_of(h, heads, kv_heads); });
  constexpr const char* how = "tiled (query head h reads head h % G), not repeated in place (h // (H/G))";
  constexpr HeadCopy apart = HeadCopy::every_gth, near = HeadCopy::neighbours;
  if (kv_heads > 1) {
    variants.push_back(
        {fmt::format("key/value heads are {}", how), {scores_with(tiled), output_with(tiled)}, {apart, apart}});
    variants.push_back({fmt::format("the heads of v alone are {}", how), {output_with(tiled)}, {near, apart}});
    variants.push_back({fmt::format("the heads of k alone are {}", how), {scores_with(tiled)}, {apart, near}});
    variants.push_back(
        {"every query head reads the first key/value head", {scores_with(first), output_with(first)}});
    variants.push_back({"the key/value heads are read in the reverse order",
                        {scores_with(backwards), output_with(backwards)}});
  }
}

void add_head_orders(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index heads = sizes.heads;
  if (heads < 2 || !projects(inputs.options.op)) return;
  const auto add = [&](std::string text, std::vector<Index> source) {
    const StageChange merged{Id::concat, [source](const Trace& so_far) {
                               const auto from = [&](const Cells& cell, Index n, Index h, Index l, Index d) {
                                 return cell(n, source[static_cast<std::size_t>(h)], l, d);
                               };
                               const TraceTensors& t = so_far.tensors;
                               return merge_heads(refilled4(*t.head_output, from), t.head_gain.get(), "H·Dv");
                             }};
    variants.push_back({std::move(text), {merged}});
  };
  for (const std::vector<Index>& order : typical_orders(heads))
    add(fmt::format("the heads are joined in the order {}", join(order, ", ")), order);
}

// A loop over the heads that ends one too early, or begins one too late.
void add_missing_heads(const AttentionInputs& inputs, ProgramVariants& variants) {
  const Index heads = attention_sizes(inputs).heads;
  if (heads < 2) return;
  for (const Index missing : {heads - 1, Index{0}})
    variants.push_back(
        {fmt::format("head {} is left out: its columns are 0", missing),
         {with_cells(Id::head_output, [missing](const Cells& cell, Index n, Index h, Index l, Index d) {
           return h == missing ? 0.0 : cell(n, h, l, d);
         })}});
}

// with_cells, of latents (N,S,C) as of one head.
template <class Value>
StageChange with_cells_of_heads(Id id, Value value) {
  return {id, [=](const Trace& so_far) {
            const Tensor& own = required(so_far, id);
            if (own.shape().rank() == 4) return refilled4(own, value);
            return refilled4(as_one_head(own), value).reshaped(own.shape());
          }};
}

// One batch or one head used for all.
void add_shared(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  const auto add = [&](std::string text, std::vector<Id> ids, auto cell_of) {
    std::vector<StageChange> stages;
    for (const Id id : ids) stages.push_back(with_cells_of_heads(id, cell_of));
    variants.push_back({std::move(text), std::move(stages)});
  };
  const AttentionOptions options = resolved_options(inputs);
  const bool latents = is_latent(options);  // of which both keys and values are made
  const Id keys = latents ? rotated_keys_of_heads(options) : path_of_keys(options).back();
  const Id made_of_both = latents ? latents_of_heads(options) : path_of_values(options).back();
  const auto add_values = [&](std::string text, auto cell_of) {
    if (!is_absorbed(options)) return add(std::move(text), {path_of_values(options).back()}, cell_of);
    variants.push_back(
        {std::move(text), {{Id::latent_output, [cell_of](const Trace& so_far) {
                              return weighted_sum(
                                  *so_far.tensors.dropped_weights,
                                  refilled4(as_one_head(*values_of_sum(so_far.tensors)), cell_of));
                            }}}});
  };
  if (sizes.batch > 1) {
    const auto of_first = [](const Cells& cell, Index, Index h, Index t, Index d) { return cell(0, h, t, d); };
    const auto reversed = [](const Cells& cell, Index n, Index h, Index t, Index d) {
      return cell(cell.size(0) - 1 - n, h, t, d);
    };
    add("keys and values of the first batch are used for all", {keys, made_of_both}, of_first);
    add("keys and values of the batches are taken in the reverse order", {keys, made_of_both}, reversed);
    add_values("the values of the batches are taken in the reverse order", reversed);
    add("the weights of the first batch are used for all", {Id::attn_weights}, of_first);
  }
  if (sizes.heads > 1) {
    const auto over_heads = [](bool mean) {
      return [mean](const Cells& cell, Index n, Index, Index t, Index d) {
        double sum = 0.0;
        for (Index h = 0; h < cell.size(1); ++h) sum += cell(n, h, t, d);
        return mean ? sum / static_cast<double>(cell.size(1)) : sum;
      };
    };
    add("the weights of the first head are used in all", {Id::attn_weights},
        [](const Cells& cell, Index n, Index, Index t, Index d) { return cell(n, 0, t, d); });
    add("the weights are averaged over the heads before they weigh the values", {Id::dropped_weights},
        over_heads(true));
    for (const bool mean : {false, true})
      add(fmt::format("the heads' outputs are {0}, not concatenated: every head's columns hold the {1}",
                      mean ? "averaged" : "summed", mean ? "mean" : "sum"),
          {Id::head_output}, over_heads(mean));
  }
  const auto values_from = [&](std::string text, auto source) {
    add_values(std::move(text), [source](const Cells& cell, Index n, Index h, Index t, Index d) {
      return cell(n, h, source(t, cell.size(2)), d);
    });
  };
  values_from("the values stand in the reverse order of the keys",
              [](Index t, Index count) { return count - 1 - t; });
  for (const Index by : {Index{1}, Index{-1}})
    values_from(by > 0 ? "the values are one position late: key s has the value of s − 1"
                       : "the values are one position early: key s has the value of s + 1",
                [by](Index t, Index count) { return (t - by + count) % count; });
}

}  // namespace

void add_head_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  add_copies(inputs, variants);
  add_views(inputs, variants);
  add_reshapes(inputs, variants);
  add_head_orders(inputs, variants);
  add_missing_heads(inputs, variants);
  add_shared(inputs, variants);
}

}  // namespace headwise
