#include <algorithm>

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/input_checks.h"
#include "core/attention/score_path.h"

namespace headwise {
namespace {

std::string name_of(TensorId id) {
  return std::string(tensor_entry(id).name);
}

const TensorPtr& of(const TraceTensors& tensors, TensorId id) {
  return tensors.*(tensor_entry(id).member);
}

// The likely cause of an attn_mask that does not fit.
std::string attn_mask_cause(Op op, const std::vector<Index>& got, const AttentionSizes& s) {
  using Sizes = std::vector<Index>;
  const bool mha = projects(op);
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
    const Shape two{{"L", s.queries}, {s.masked_axis(), s.keys}};
    const Shape& got = t.attn_mask->shape();
    const std::string cause = attn_mask_cause(inputs.options.op, got.sizes(), s);
    if (projects(inputs.options.op)) {
      const Shape three{{"N·H", checked_multiply(s.batch, s.heads, "attn_mask")},
                        {"L", s.queries},
                        {s.masked_axis(), s.keys}};
      refuse({"attn_mask", "the shape disagrees", got.sizes_text(),
              letters_and_sizes(two) + " or " + letters_and_sizes(three), cause});
    }
    refuse({"attn_mask", "the shape does not broadcast", got.sizes_text(),
            "what broadcasts to " +
                letters_and_sizes({{"N", s.batch}, {"H", s.heads}, {"L", s.queries}, {s.masked_axis(), s.keys}}),
            cause});
  }
}

void check_key_padding_mask(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TraceTensors& t = inputs.tensors;
  if (t.key_padding_mask)
    expect_shape("key_padding_mask", *t.key_padding_mask, {{"N", s.batch}, {s.masked_axis(), s.keys}},
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
             fmt::format("0 to {} = {}", s.masked_axis(), s.keys), ""});
  }
}

// One length for each of the batch; a past would say a second time where the queries stand.
void check_nonpad_kv_seqlen(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TensorPtr& lens = inputs.tensors.nonpad_kv_seqlen;
  if (!lens) return;
  require(!given_past_length(inputs.tensors),
          {"nonpad_kv_seqlen", "the place of the queries is given twice",
           fmt::format("nonpad_kv_seqlen beside {}", name_of(cached_tensors(inputs.options.op)[0].past)),
           "one or the other", "leave one out"});
  expect_shape("nonpad_kv_seqlen", *lens, {{"N", s.batch}}, "one number for each of the batch");
  const auto numbers = lens->values<std::int64_t>();
  const auto wrong = std::ranges::find_if(numbers, [&](Index len) { return len < 0 || len > s.keys; });
  require(wrong == numbers.end(),
          {"nonpad_kv_seqlen", "a length is out of range",
           wrong == numbers.end() ? "" : fmt::format("{} at cell {}", *wrong, wrong - numbers.begin()),
           fmt::format("0 to S = {}", s.keys), "it is the number of valid keys, counted from the first"});
}

}  // namespace

void check_past(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  const auto [keys, values] = cached_tensors(inputs.options.op);
  const std::string first = name_of(keys.past), second = name_of(values.past);
  const std::string first_shape(tensor_entry(keys.past).shape), second_shape(tensor_entry(values.past).shape);
  for (const CachedTensor& other : cached_by_any) {
    const TensorPtr& tensor = of(t, other.past);
    require(!tensor || other.past == keys.past || other.past == values.past,
            {name_of(other.past), "this operator's cache keeps other tensors",
             tensor ? tensor->shape().sizes_text() : "",
             fmt::format("{} {} and {} {}", first, first_shape, second, second_shape),
             is_latent(inputs.options) ? "give those, or choose multi_head_attention"
                                       : "give those, or choose multi_head_latent_attention"});
  }
  const TensorPtr &key = of(t, keys.past), &value = of(t, values.past);
  require(!key == !value,
          {key ? first : second, fmt::format("{} and {} come together", first, second),
           (key ? first : second) + " alone", "both or neither", "give " + (key ? second : first) + " too"});
  if (!key) return;
  const auto axes = [](const std::string& letters) { return std::ranges::count(letters, ',') + 1; };
  require(key->shape().rank() == axes(first_shape) && value->shape().rank() == axes(second_shape),
          {first, "the number of axes disagrees",
           key->shape().sizes_text() + " and " + value->shape().sizes_text(),
           first_shape + " and " + second_shape,
           is_latent(inputs.options) ? "latents have no heads, and one rotated key is for all of them"
                                     : "a cache is kept by heads"});
  require(
      !t.static_k && !t.static_v,
      {"past_key", "a past comes before projected keys and values, and static_k and static_v replace those",
       t.static_k ? "past_key and static_k" : "past_key and static_v", "one or the other", "leave one out"});
}

void check_past_shapes(const AttentionInputs& inputs, const AttentionSizes& s) {
  if (!given_past_length(inputs.tensors)) return;
  const char* const remedy = is_latent(inputs.options)
                                 ? "the cache has the batch, kv_lora_rank and qk_rope_head_dim of this pass"
                                 : "the cache has the batch, the key/value heads and the widths of this pass";
  for (const CachedTensor& cached : cached_tensors(inputs.options.op))
    expect_shape(tensor_entry(cached.past).name.data(), *of(inputs.tensors, cached.past),
                 computed_shape(cached.past, inputs.options, s), remedy);
}

void check_masks(const AttentionInputs& inputs, const AttentionSizes& sizes, Refusals& refusals) {
  refusals.run([&] { check_attn_mask(inputs, sizes); });
  refusals.run([&] { check_key_padding_mask(inputs, sizes); });
  refusals.run([&] { check_valid_lens(inputs, sizes); });
  refusals.run([&] { check_nonpad_kv_seqlen(inputs, sizes); });
}

}  // namespace headwise
