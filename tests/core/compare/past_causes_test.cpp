// Mistakes with a cache: where its tokens stand, and what has been done to its keys already.
#include <cmath>

#include "core/attention/attention_mask.h"
#include "core/attention/rotary_embedding.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/compare/causes.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// Two cached tokens, a causal mask and rotary positions.
AttentionInputs inputs_with_past() {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 4), {2, 5, 5});
  inputs.options.is_causal = true;
  inputs.options.rotary_base = 10.0;
  inputs.tensors.past_key = random_tensor({{"N", 2}, {"G", 2}, {"P", 2}, {"D", 4}}, "past_key");
  inputs.tensors.past_value = random_tensor({{"N", 2}, {"G", 2}, {"P", 2}, {"Dv", 4}}, "past_value");
  return inputs;
}

// Rows of a cache, each turned by so many positions: the same as new positions that are so many less.
TensorPtr turned_by(const Tensor& past, const Rotation& rotation, Index positions) {
  Tensor moved = past;
  const Index width = past.shape().size(3);
  for (Index row = 0; row < moved.size() / width; ++row) {
    Tensor one(Shape{{"T", 1}, {"D", width}}, DType::f64);
    for (Index d = 0; d < width; ++d) one.set_flat(d, moved.flat(width * row + d));
    const Tensor turned = rotary_embedding(one, rotation, positions);
    for (Index d = 0; d < width; ++d) moved.set_flat(width * row + d, turned.flat(d));
  }
  return std::make_shared<const Tensor>(std::move(moved));
}

AttentionInputs latents_with_past(LatentLayout layout) {
  AttentionOptions o = latent_options(layout);
  o.is_causal = true;
  o.rotary_base = 10.0;
  AttentionInputs inputs = latent_inputs(o, {2, 5, 5});
  inputs.tensors.past_compressed_kv = random_tensor({{"N", 2}, {"P", 2}, {"C", 5}}, "past_compressed_kv");
  inputs.tensors.past_k_rot = random_tensor({{"N", 2}, {"1", 1}, {"P", 2}, {"R", 2}}, "past_k_rot");
  return inputs;
}

}  // namespace

TEST_CASE("cached keys that are rotated twice, and positions that miss the past, are told") {
  const AttentionInputs inputs = inputs_with_past();
  AttentionInputs changed = inputs;
  changed.tensors.past_key =
      std::make_shared<const Tensor>(rotary_embedding(*inputs.tensors.past_key, rotation_of(inputs.options)));
  CHECK_CONTAINS(causes_when(inputs, changed), "the cached keys are rotated twice");

  // What a causal mask without the past's offset blocks, as a given mask.
  changed = inputs;
  changed.options.is_causal = false;
  Tensor blocked(Shape{{"L", 5}, {"S", 7}}, DType::boolean);
  for (Index l = 0; l < 5; ++l)
    for (Index s = 0; s < 7; ++s) blocked.set_flat(7 * l + s, s > l ? 1.0 : 0.0);
  changed.tensors.attn_mask = std::make_shared<const Tensor>(std::move(blocked));
  CHECK_CONTAINS(causes_when(inputs, changed), "ignore the past: query i stands at key i");
}

TEST_CASE("cached latents that are normalised twice, and cached keys that are rotated twice, are told") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = latents_with_past(layout);
    AttentionInputs changed = inputs;
    changed.tensors.past_k_rot = std::make_shared<const Tensor>(
        rotary_embedding(*inputs.tensors.past_k_rot, rotation_of_keys(inputs.options)));
    CHECK_CONTAINS(causes_when(inputs, changed), "the cached keys are rotated twice");
    changed = inputs;
    Tensor twice = *inputs.tensors.past_compressed_kv;
    for (Index row = 0; row < twice.size() / 5; ++row) {
      double squares = 0.0;
      for (Index c = 0; c < 5; ++c) squares += std::pow(twice.flat(5 * row + c), 2);
      const double length = std::sqrt(squares / 5.0 + inputs.options.latent_norm_epsilon);
      for (Index c = 0; c < 5; ++c)
        twice.set_flat(5 * row + c,
                       twice.flat(5 * row + c) / length * inputs.tensors.kv_a_norm_weight->flat(c));
    }
    changed.tensors.past_compressed_kv = std::make_shared<const Tensor>(std::move(twice));
    CHECK_CONTAINS(causes_when(inputs, changed), "the cached latents are normalised twice");
  }
}

TEST_CASE("cached keys whose columns are in the order of halves are told where pairs are neighbours") {
  AttentionOptions o = latent_options(LatentLayout::absorbed);
  o.qk_rope_head_dim = 4;
  o.head_dim = 7;
  o.rotary_base = 10.0;
  o.rotary_pairs = RotaryPairs::neighbours;
  AttentionInputs inputs = latent_inputs(o, {2, 5, 5});
  inputs.tensors.past_compressed_kv = random_tensor({{"N", 2}, {"P", 2}, {"C", 5}}, "past_compressed_kv");
  inputs.tensors.past_k_rot = random_tensor({{"N", 2}, {"1", 1}, {"P", 2}, {"R", 4}}, "past_k_rot");
  AttentionInputs changed = inputs;
  Tensor in_pairs = *inputs.tensors.past_k_rot;
  for (Index row = 0; row < in_pairs.size(); row += 4)
    for (const auto& [to, from] : {std::pair<Index, Index>(1, 2), {2, 1}})
      in_pairs.set_flat(row + to, inputs.tensors.past_k_rot->flat(row + from));
  changed.tensors.past_k_rot = std::make_shared<const Tensor>(std::move(in_pairs));
  CHECK_CONTAINS(causes_when(inputs, changed), "in the order of halves, as transformers caches them");
}

TEST_CASE("rotary positions of new tokens that begin at 0 behind a past are told, of latents too") {
  const char* const named = "ignore the past: rotary positions after the past begin at 0, not at 2; then";
  const AttentionInputs inputs = inputs_with_past();
  AttentionInputs changed = inputs;
  changed.tensors.past_key = turned_by(*inputs.tensors.past_key, rotation_of(inputs.options), 2);
  CHECK_CONTAINS(causes_when(inputs, changed), named);
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs latents = latents_with_past(layout);
    changed = latents;
    changed.tensors.past_k_rot = turned_by(*latents.tensors.past_k_rot, rotation_of_keys(latents.options), 2);
    CHECK_CONTAINS(causes_when(latents, changed), named);
  }
}

TEST_CASE("a cache position that is off by one is told, in the masks and in the rotary positions") {
  AttentionInputs inputs = inputs_with_past();
  AttentionInputs changed = inputs;
  changed.tensors.past_key = turned_by(*inputs.tensors.past_key, rotation_of(inputs.options), -1);
  CHECK_CONTAINS(causes_when(inputs, changed), "rotary positions after the past begin at 3, not at 2");

  inputs.options.rotary_base.reset();
  inputs.options.alibi = true;
  changed = inputs;
  changed.options.is_causal = changed.options.alibi = false;
  Tensor bias(Shape{{"N·H", 8}, {"L", 5}, {"S", 7}}, DType::f64);
  const std::vector<double> slopes = alibi_slopes(4);
  for (Index i = 0; i < bias.size(); ++i) {
    const Index key = i % 7, own = i / 7 % 5 + 3, head = i / 35 % 4;
    bias.set_flat(
        i, key > own ? -HUGE_VAL : -slopes[static_cast<std::size_t>(head)] * static_cast<double>(own - key));
  }
  changed.tensors.attn_mask = std::make_shared<const Tensor>(std::move(bias));
  CHECK_CONTAINS(causes_when(inputs, changed), "the cache position of the masks is off by one");
  inputs.options.causal_alignment = changed.options.causal_alignment = CausalAlignment::bottom_right;
  CHECK_CONTAINS(causes_when(inputs, changed), "the cache position of the masks is off by one");
}
