// Programs of multi-head latent attention that are wrong in one thing.
#include <functional>
#include <string>
#include <utility>

#include "core/attention/latent_attention.h"
#include "core/compare/variant_trials.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/compare/causes.h"

using namespace headwise;
using namespace headwise::test;

namespace {

AttentionInputs everything_of_latents(LatentLayout layout) {
  AttentionOptions o = latent_options(layout);
  o.q_lora_rank = 6;
  o.qk_rope_head_dim = 4;
  o.head_dim = 7;
  o.rotary_base = 100.0;
  o.is_causal = true;
  o.sliding_window = 4;
  o.softcap = 3.0;
  o.sink = {0.5};
  o.output_gate = true;
  AttentionInputs inputs = latent_inputs(o, {2, 6, 6});
  inputs.tensors.key = inputs.tensors.query;
  inputs.tensors.output_gate_weight = random_tensor({{"H", 4}, {"E", 8}}, "output_gate.weight");
  return inputs;
}

using OptionChange = std::function<void(AttentionInputs&)>;

}  // namespace

TEST_CASE("what a program of latents leaves out or takes for another is named, in both layouts") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = everything_of_latents(layout);
    for (const auto& [named, change] : std::initializer_list<std::pair<const char*, OptionChange>>{
             {"there is no causal mask", [](AttentionInputs& i) { i.options.is_causal = false; }},
             {"the window is 5 wide", [](AttentionInputs& i) { i.options.sliding_window = 5; }},
             {"there is no sliding window", [](AttentionInputs& i) { i.options.sliding_window.reset(); }},
             {"there is no softcap", [](AttentionInputs& i) { i.options.softcap = 0.0; }},
             {"there is no sink", [](AttentionInputs& i) { i.options.sink.clear(); }},
             {"there is no output gate",
              [](AttentionInputs& i) {
                i.options.output_gate = false;
                i.tensors.output_gate_weight = nullptr;
              }},
             {"the epsilon of the norm of the latents is 1e-05",
              [](AttentionInputs& i) { i.options.latent_norm_epsilon = 1e-5; }},
             {"neither q nor k_rot is rotated", [](AttentionInputs& i) { i.options.rotary_base.reset(); }},
             {"RoPE turns neighbouring columns",
              [](AttentionInputs& i) { i.options.rotary_pairs = RotaryPairs::neighbours; }},
             {"the base of RoPE is 10000", [](AttentionInputs& i) { i.options.rotary_base = 1e4; }}}) {
      CAPTURE(named);
      AttentionInputs theirs = inputs;
      change(theirs);
      const std::string causes = causes_when(inputs, theirs);
      CAPTURE(causes);
      CHECK_CONTAINS(causes, named);
      CHECK_CONTAINS(causes, "; then everything agrees");
    }
  }
}

TEST_CASE("latents that are not normalised are named, of keys and of queries") {
  const AttentionInputs inputs = everything_of_latents(LatentLayout::expanded);
  const TracePtr ours = reference_forward(inputs);
  for (const auto& [id, given, named] :
       {std::tuple(TensorId::compressed_kv, TensorId::kv_a, "latents of keys and values are not normalised"),
        {TensorId::compressed_q, TensorId::q_a, "latents of queries are not normalised"}}) {
    const StageChange raw{id, [id = id, given = given](const Trace& t) {
                            return columns_of(*t.tensor(given), 0, t.tensor(id)->shape());
                          }};
    const auto to_the_end = [](TensorId, const Trace&, const std::vector<TensorPtr>&) { return true; };
    const Trace wrong = retraced(*ours, std::span(&raw, 1), to_the_end);
    const std::vector<StoredTensor> theirs{{"output", wrong.tensor(TensorId::output), "f64"}};
    CHECK_CONTAINS(
        texts(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, compare_arrays(*ours, theirs, {}))),
        named);
  }
}

TEST_CASE("every variant of latents can be tried, whatever else there is") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    AttentionInputs inputs = everything_of_latents(layout);
    inputs.tensors.key_padding_mask = std::make_shared<const Tensor>(Shape{{"N", 2}, {"S", 6}}, DType::boolean);
    inputs.options.need_weights = true;
    const TracePtr ours = reference_forward(inputs);
    Tensor noise = *ours->tensors.output;
    for (Index i = 0; i < noise.size(); ++i) noise.set_flat(i, noise.flat(i) + (i % 3 == 0 ? 0.1 : -0.2));
    const std::vector<StoredTensor> theirs{{"output", std::make_shared<const Tensor>(noise), "f64"}};
    SearchEffort effort;
    CHECK(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, compare_arrays(*ours, theirs, {}), &effort)
              .empty());
    CHECK(effort.singles > 100);
  }
}
