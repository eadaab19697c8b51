// Mistakes with a cache: where its tokens stand, and what has been done to its keys already.
#include <functional>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
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

// The cache's keys changed, before this pass's own.
StageChange cached_keys_as(const std::function<Tensor(const Tensor& past)>& change) {
  return {Id::present_key, [change](const Trace& so_far) {
            const AttentionSizes sizes = attention_sizes(so_far.options, so_far.tensors);
            const Id own = made_of(Id::present_key, so_far.options);
            return with_past(change(required(so_far, Id::past_key)), required(so_far, own), sizes.key_axis());
          }};
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
    for (const Index off : {1, -1})
      add_with_row_answers(
          o,
          {std::string("the cache position of the masks is off by one: query 0 stands at key P ") +
               (off > 0 ? "+ 1" : "− 1"),
           {masked_as_of([off](Trace& other) { other.options.past_length = *other.options.past_length + off; })}},
          variants);
  }
  if (!has_rotary_embedding(o)) return;
  variants.push_back({"the cached keys are rotated twice: RoPE was applied to them before they were cached",
                      {cached_keys_as([rotation = rotation_of(o)](const Tensor& past) {
                        return rotary_embedding(past, rotation);
                      })}});
}

}  // namespace headwise
