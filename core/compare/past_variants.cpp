// Mistakes with a cache: where its tokens stand, and what has been done to its keys already.
#include <fmt/format.h>

#include <functional>
#include <string>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/compare/mask_patterns.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

using Id = TensorId;

// Every mask as for other inputs, with the keys of these.
StageChange masked_as_of(const std::function<void(Trace& other)>& change) {
  return {Id::mask_bias, [change](const Trace& so_far) {
            Trace other = so_far;
            change(other);
            return merged_masks(other, {});
          }};
}

// One tensor of the cache changed, before this pass's own rows.
StageChange cached_as(Id present, const std::function<Tensor(const Tensor& past, const Trace& so_far)>& change) {
  return {present, [present, change](const Trace& so_far) {
            const AttentionSizes sizes = attention_sizes(so_far.options, so_far.tensors);
            const Tensor past = change(required(so_far, *past_before(present)), so_far);
            return with_past(past, required(so_far, made_of(present, so_far.options)), sizes.key_axis());
          }};
}

// Columns j and j + R/2 beside each other. Where pairs are neighbours, transformers puts the first of every
// pair before all the second ones, in queries and keys alike, which changes no score.
Tensor as_neighbours(const Tensor& past) {
  Tensor rows = past;
  const Index width = past.shape().size(3), pairs = width / 2;
  for (Index i = 0; i < past.size(); ++i) {
    const Index column = i % width, from = column / 2 + (column % 2 == 0 ? 0 : pairs);
    if (column < 2 * pairs) rows.set_flat(i, past.flat(i - column + from));
  }
  return rows;
}

}  // namespace

void add_past_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  const bool by_position = depends_on_distance(o);
  if (inputs.tensors.nonpad_kv_seqlen && by_position)
    add_with_row_answers(o,
                         {"nonpad_kv_seqlen only blocks keys: the queries do not move to the last valid key",
                          {masked_as_of([](Trace& other) {
                            TraceTensors& t = other.tensors;
                            if (!t.valid_lens) t.valid_lens = t.nonpad_kv_seqlen;
                            t.nonpad_kv_seqlen = nullptr;
                          })}},
                         variants);
  if (!o.past_length || *o.past_length == 0) return;
  if (by_position && o.causal_alignment == CausalAlignment::top_left) {
    add_with_row_answers(
        o,
        {"the causal mask, windows and biases ignore the past: query i stands at key i, not at i + P",
         {masked_as_of([](Trace& other) { other.options.past_length = 0; })}},
        variants);
  }
  // Of either alignment: where query 0 stands, one key further or nearer.
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index stands = causal_offset(o, sizes.queries, sizes.keys);
  for (const Index off : {1, -1})
    if (by_position && stands + off >= 0)
      add_with_row_answers(
          o,
          {fmt::format("the cache position of the masks is off by one: query 0 stands at key {} {} 1",
                       stands == *o.past_length ? "P" : std::to_string(stands), off > 0 ? "+" : "−"),
           {masked_as_of([at = stands + off](Trace& other) {
             other.options.causal_alignment = CausalAlignment::top_left;
             other.options.past_length = at;
           })}},
          variants);
  if (is_latent(o))
    variants.push_back(
        {"the cached latents are normalised twice: the norm was applied before they were cached",
         {cached_as(Id::present_compressed_kv, [](const Tensor& past, const Trace& so_far) {
           return normalised(past, so_far.tensors.kv_a_norm_weight.get(), latent_norm_of(so_far.options));
         })}});
  if (!has_rotary_embedding(o)) return;
  if (is_latent(o) && o.rotary_pairs == RotaryPairs::neighbours && rotary_width(o) > 2)
    variants.push_back(
        {"the columns of past_k_rot are in the order of halves, as transformers caches them, not in pairs of "
         "neighbours",
         {cached_as(Id::present_k_rot, [](const Tensor& past, const Trace&) { return as_neighbours(past); })}});
  variants.push_back(
      {"the cached keys are rotated twice: RoPE was applied to them before they were cached",
       {cached_as(is_latent(o) ? Id::present_k_rot : Id::present_key,
                  [rotation = is_latent(o) ? rotation_of_keys(o) : rotation_of(o)](
                      const Tensor& past, const Trace&) { return rotary_embedding(past, rotation); })}});
}

}  // namespace headwise
