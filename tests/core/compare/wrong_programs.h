// Programs that are wrong in one thing: what they begin with, and which stages they compute another way.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/compare/tensor_fill.h"
#include "core/compare/variant_trials.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/attention/random_inputs.h"

namespace headwise::test {

constexpr Index token_count = 5;

struct WrongProgram {
  const char* named;  // a part of its name, and of no other's
  AttentionInputs inputs;
  std::vector<StageChange> mistake;
  std::function<void(AttentionInputs&)> other_inputs = {};  // what it starts from, if that is the mistake
};

std::vector<WrongProgram> wrong_programs();

// A stage that is left out: it holds what another one does.
StageChange left_out(TensorId stage, TensorId holds);
// concat of numbers of head_output.
StageChange joined_as(const std::function<double(const Cells&, Index n, Index l, Index c)>& cell);

inline AttentionInputs self_attention(const AttentionOptions& options) {
  AttentionInputs inputs = random_inputs(options, {2, token_count, token_count});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  return inputs;
}

// A boolean mask of the cells that the rule blocks.
inline TensorPtr blocking(Shape shape, const std::function<bool(Index cell)>& blocks) {
  Tensor mask(std::move(shape), DType::boolean);
  for (Index i = 0; i < mask.size(); ++i) mask.set_flat(i, blocks(i));
  return shared_tensor(std::move(mask));
}

inline AttentionInputs plain() {
  return self_attention(small_options(4, 4, 4));
}

inline AttentionInputs causal() {
  AttentionInputs inputs = plain();
  inputs.options.is_causal = true;
  inputs.options.fully_masked_rows = FullyMaskedRows::zero;
  return inputs;
}

inline AttentionInputs padded() {
  AttentionInputs inputs = plain();
  inputs.tensors.key_padding_mask = blocking({{"N", 2}, {"S", token_count}}, [](Index cell) {
    return cell == token_count - 1 || cell >= 2 * token_count - 2;
  });
  return inputs;
}

// Padding on the left: rows whose keys are all blocked, some of them twice.
inline AttentionInputs padded_on_the_left() {
  AttentionInputs inputs = causal();
  inputs.tensors.key_padding_mask = blocking({{"N", 2}, {"S", token_count}}, [](Index cell) {
    return cell < 2 || (cell >= token_count && cell < token_count + 3);
  });
  return inputs;
}

inline const Shape of_each_head{{"N·H", 8}, {"L", token_count}, {"S", token_count}};

// A causal mask and padding in one attn_mask.
inline AttentionInputs merged_masks_given() {
  AttentionInputs inputs = plain();
  inputs.tensors.attn_mask = blocking(of_each_head, [](Index i) {
    const Index slice = i / token_count / token_count, l = i / token_count % token_count, s = i % token_count;
    return s > l || s >= (slice < 4 ? token_count - 1 : token_count - 2);
  });
  return inputs;
}

inline AttentionInputs masked_by_head() {
  AttentionInputs inputs = plain();
  const CounterRandom random(5, "mask");
  inputs.tensors.attn_mask = blocking(of_each_head, [&](Index i) {
    return i % token_count > 0 && random.normal(static_cast<std::uint64_t>(i)) > 0.3;
  });
  return inputs;
}

inline AttentionInputs windowed(bool is_causal) {
  AttentionInputs inputs = plain();
  inputs.options.is_causal = is_causal;
  inputs.options.sliding_window = 3;
  return inputs;
}

inline AttentionInputs with_alibi(Index heads) {
  AttentionInputs inputs = self_attention(small_options(heads, heads, 2));
  inputs.options.is_causal = inputs.options.alibi = true;
  return inputs;
}

inline AttentionInputs rotary() {
  AttentionInputs inputs = plain();
  inputs.options.rotary_base = 100.0;
  return inputs;
}

inline AttentionInputs latents(LatentLayout layout) {
  AttentionOptions options = latent_options(layout);
  options.rotary_base = 100.0;
  options.is_causal = true;
  AttentionInputs inputs = latent_inputs(options, {2, token_count, token_count});
  inputs.tensors.key = inputs.tensors.query;
  return inputs;
}

inline AttentionInputs gated_inputs() {
  AttentionInputs inputs = plain();
  inputs.options.output_gate = true;
  const Index rows = inputs.options.num_heads * inputs.options.v_head_dim;
  inputs.tensors.output_gate_weight =
      random_tensor({{"H·Dv", rows}, {"E", inputs.options.embed_dim}}, "output_gate.weight");
  return inputs;
}

}  // namespace headwise::test
