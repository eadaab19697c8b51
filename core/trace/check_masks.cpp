#include "core/trace/check_masks.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/attention/attention_mask.h"

namespace headwise {
namespace {

// The likely cause of an attn_mask that does not fit.
std::string attn_mask_cause(Op op, const std::vector<Index>& got, const AttentionSizes& s) {
  using Sizes = std::vector<Index>;
  const bool mha = op == Op::multi_head_attention;
  if (got == Sizes{s.keys, s.queries}) return "transposed?";
  if (got == Sizes{s.batch, s.keys} || got == Sizes{s.keys})
    return mha ? "key_padding_mask says which keys are padding" : "(N,1,1,S) broadcasts over heads and queries";
  // For L = S nothing is known of their order.
  const bool ends_turned =
      got.size() >= 2 && s.keys != s.queries && got[got.size() - 2] == s.keys && got.back() == s.queries;
  if (ends_turned) return "are its last two axes transposed?";
  if (got == Sizes{s.batch, s.queries, s.keys})
    return mha ? "a mask for each of the batch is repeated for each head: index n·H + h"
               : "(N,1,L,S) broadcasts over the heads";
  const bool for_lengths = got.size() >= 2 && got[got.size() - 2] == s.heads && got.back() == s.kv_heads;
  if (!mha && for_lengths) return "is query (N,L,H,D)? heads come before the length, (N,H,L,D)";
  if (!mha) return "";
  if (got == Sizes{s.batch, s.heads, s.queries, s.keys}) return "join its first two axes";
  if (got == Sizes{1, s.queries, s.keys}) return "leave its first axis out";
  if (got == Sizes{1, 1, s.queries, s.keys}) return "leave its first two axes out";
  if (got == Sizes{s.batch, 1, s.queries, s.keys})
    return "a mask for each of the batch is repeated for each head: index n·H + h";
  if (got == Sizes{s.heads, s.queries, s.keys})
    return "a mask for each head is repeated for each of the batch: index n·H + h";
  return "";
}

void check_attn_mask(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TraceTensors& t = inputs.tensors;
  if (t.attn_mask &&
      !view_attn_mask(inputs.options.op, t.attn_mask->shape(), s.batch, s.heads, s.queries, s.keys)) {
    const Shape two{{"L", s.queries}, {"S", s.keys}};
    const Shape& got = t.attn_mask->shape();
    const std::string cause = attn_mask_cause(inputs.options.op, got.sizes(), s);
    if (inputs.options.op == Op::multi_head_attention) {
      const Shape three{
          {"N·H", checked_multiply(s.batch, s.heads, "attn_mask")}, {"L", s.queries}, {"S", s.keys}};
      refuse({"attn_mask", "the shape disagrees", got.sizes_text(),
              letters_and_sizes(two) + " or " + letters_and_sizes(three), cause});
    }
    refuse({"attn_mask", "the shape does not broadcast", got.sizes_text(),
            "what broadcasts to " +
                letters_and_sizes({{"N", s.batch}, {"H", s.heads}, {"L", s.queries}, {"S", s.keys}}),
            cause});
  }
}

void check_key_padding_mask(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TraceTensors& t = inputs.tensors;
  if (t.key_padding_mask)
    expect_shape("key_padding_mask", *t.key_padding_mask, {{"N", s.batch}, {"S", s.keys}},
                 t.key_padding_mask->shape().same_sizes({{"N", s.batch}, {"L", s.queries}})
                     ? "it masks keys: its length is that of key, not of query"
                     : "one row for each of the batch, one column for each key");
}

void check_valid_lens(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TraceTensors& t = inputs.tensors;
  if (t.valid_lens) {
    const Shape per_query{{"N", s.batch}, {"L", s.queries}};
    const Shape& got = t.valid_lens->shape();
    if (const Shape per_batch{{"N", s.batch}}; !got.same_sizes(per_query) && !got.same_sizes(per_batch)) {
      refuse({"valid_lens", "the shape disagrees", got.sizes_text(),
              letters_and_sizes(per_batch) + " or " + letters_and_sizes(per_query),
              likely_cause(got.sizes(), per_query.sizes())});
    }
    const auto lens = t.valid_lens->values<std::int64_t>();
    const auto wrong = std::ranges::find_if(lens, [&](Index len) { return len < 0 || len > s.keys; });
    require(wrong == lens.end(),
            {"valid_lens", "a length is out of range",
             wrong == lens.end() ? "" : fmt::format("{} at cell {}", *wrong, wrong - lens.begin()),
             fmt::format("0 to S = {}", s.keys), ""});
  }
}

}  // namespace

void check_masks(const AttentionInputs& inputs, const AttentionSizes& sizes, Refusals& refusals) {
  refusals.run([&] { check_attn_mask(inputs, sizes); });
  refusals.run([&] { check_key_padding_mask(inputs, sizes); });
  refusals.run([&] { check_valid_lens(inputs, sizes); });
}

}  // namespace headwise
