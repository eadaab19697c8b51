// Mistakes with an indexer: how many keys it keeps, among which, and what its scores are made of.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/compare/mask_patterns.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

using Id = TensorId;

constexpr Index most_tried = 16;  // numbers of keys, beside those near the scenario's own

// The k largest of all scores of a row, whatever the masks leave.
StageChange chosen_before_masks() {
  return {Id::mask_bias, [](const Trace& so_far) {
            Trace without = so_far;
            without.options.indexer.reset();
            const Tensor& scores = required(so_far, Id::indexer_scores);
            const Index k = so_far.options.indexer.value().k;
            const std::vector<char> all(static_cast<std::size_t>(scores.shape().size(2)), 1);
            Tensor bias = merged_masks(without, {});
            const Shape& shape = bias.shape();
            Index row = 0;
            for (Index n = 0; n < shape.size(0); ++n)
              for (Index h = 0; h < shape.size(1); ++h)
                for (Index l = 0; l < shape.size(2); ++l, row += shape.size(3)) {
                  const ChosenKeys chosen(indexer_row(scores, n, l), all, k);
                  for (Index s = 0; s < shape.size(3); ++s)
                    if (!chosen(s)) bias.set_flat(row + s, -HUGE_VAL);
                }
            return bias;
          }};
}

// Σ_m w·q·k, with negative products too.
StageChange scores_without_relu() {
  return {Id::indexer_scores, [](const Trace& so_far) {
            const Tensor &q = required(so_far, Id::indexer_q), &k = required(so_far, Id::indexer_k),
                         &w = required(so_far, Id::indexer_weights);
            Tensor scores = required(so_far, Id::indexer_scores);
            const Shape& shape = scores.shape();
            for (Index i = 0; i < scores.size(); ++i) {
              const std::vector<Index> at = shape.index_of(i);
              double sum = 0.0;
              for (Index m = 0; m < q.shape().size(1); ++m)
                for (Index d = 0; d < q.shape().size(3); ++d)
                  sum += w.at({at[0], at[1], m}) * q.at({at[0], m, at[1], d}) * k.at({at[0], 0, at[2], d});
              scores.set_flat(i, sum);
            }
            return scores;
          }};
}

// Rotated back by the same angles: what was there before, but for a factor, which changes no order.
StageChange not_rotated(Id id) {
  return {id, [id](const Trace& so_far) {
            const AttentionSizes s = attention_sizes(so_far.options, so_far.tensors);
            const Index first = id == Id::indexer_q ? rotary_first_query(so_far.options, s.queries, s.keys)
                                                    : rotary_first_key(so_far.options);
            return rotary_embedding_gradient(required(so_far, id), indexer_rotation(so_far.options), first);
          }};
}

// "--set 'mask.indexer={…}'" with the change.
template <class Edit>
std::string setting(Indexer indexer, Edit edit) {
  edit(indexer);
  return fmt::format(R"(--set 'mask.indexer={{"heads":{},"width":{},"k":{},"rotary_pairs":"{}"}}')",
                     indexer.heads, indexer.width, indexer.k,
                     indexer.rotary_pairs == RotaryPairs::halves ? "halves" : "neighbours");
}

}  // namespace

void add_indexer_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  if (!o.indexer) return;
  const Index own = o.indexer->k, keys = attention_sizes(inputs).keys;
  add_with_row_answers(
      o,
      {"there is no indexer: every key that the masks leave takes part", "--set mask.indexer=null",
       [](AttentionInputs& theirs) {
         theirs.options.indexer.reset();
         for (const TensorEntry& entry : tensor_entries())
           if (is_of_indexer(entry.id)) theirs.tensors.*(entry.member) = nullptr;
       }},
      variants);
  std::set<Index> tried{own - 1, own + 1, own / 2, 2 * own};
  for (Index k = 1; k <= most_tried; ++k) tried.insert(k);
  for (const Index k : tried) {
    if (k < 1 || k == own || k >= std::max(keys, own)) continue;
    variants.push_back({fmt::format("the indexer keeps k = {} keys instead of {}", k, own),
                        setting(*o.indexer, [k](Indexer& theirs) { theirs.k = k; }),
                        [k](AttentionInputs& theirs) { theirs.options.indexer->k = k; }});
  }
  variants.push_back({"the indexer chooses among all keys, and the masks then block some of those",
                      {chosen_before_masks()}});
  variants.push_back(
      {"the indexer's scores have no ReLU: negative products count too", {scores_without_relu()}});
  if (o.op == Op::scaled_dot_product_attention || !indexer_rotation(o)) return;
  const bool halves = o.indexer->rotary_pairs == RotaryPairs::halves;
  variants.push_back({fmt::format("the indexer rotates {} of columns", halves ? "neighbours" : "halves"),
                      setting(*o.indexer,
                              [halves](Indexer& theirs) {
                                theirs.rotary_pairs = halves ? RotaryPairs::neighbours : RotaryPairs::halves;
                              }),
                      [halves](AttentionInputs& theirs) {
                        theirs.options.indexer->rotary_pairs =
                            halves ? RotaryPairs::neighbours : RotaryPairs::halves;
                      }});
  variants.push_back({"the indexer's queries and keys are not rotated by their positions",
                      {not_rotated(Id::indexer_q), not_rotated(Id::indexer_k)}});
}

}  // namespace headwise
