// RoPE that another program stretches otherwise, and norms of q and k with other numbers.
#include <tuple>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_scaling.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/compare/causes.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr double rope_base = 100.0;

RotaryScaling scaling_of(RotaryScalingKind kind, double factor = 4.0, double length = 64.0) {
  RotaryScaling scaling;
  scaling.kind = kind;
  scaling.factor = factor;
  scaling.original_max_position_embeddings = length;
  scaling.short_factor = {1.0, 1.1, 1.2, 1.3};
  scaling.long_factor = {1.0, 2.0, 3.0, 4.5};
  return scaling;
}

AttentionInputs stretched_by(AttentionInputs inputs, const RotaryScaling& scaling) {
  const AttentionOptions o = resolved_options(inputs);
  const AttentionSizes sizes = attention_sizes(inputs);
  const Rotation rotation =
      scaled_rotation(scaling, rotary_width(o), rope_base, rotary_tokens(o, sizes.queries, sizes.keys));
  inputs.options.rotary_inverse_frequencies = rotation.inverse_frequencies;
  inputs.options.rotary_factor = rotation.factor;
  return inputs;
}

AttentionInputs grouped_heads() {
  return random_inputs(small_options(4, 2, 8), {1, 5, 5});
}

// Both are named by what makes ours do the same, too.
std::string scaling_causes(const AttentionInputs& inputs, const RotaryScaling& ours,
                           const RotaryScaling& theirs) {
  const AttentionInputs own = stretched_by(inputs, ours);
  const TracePtr trace = reference_forward(own), other = reference_forward(stretched_by(inputs, theirs));
  const std::vector<StoredTensor> stored{{"output", other->tensor(TensorId::output), "f64"}};
  const ArrayComparison comparison = compare_arrays(*trace, stored, {});
  REQUIRE(comparison.first_difference() != nullptr);
  VariantSearch search{own, *trace, nullptr, stored, {}};
  search.stretched = {ours, rope_base};
  std::string all;
  for (const LikelyCause& cause : causes_in_variants(search, comparison))
    all += cause.text + " " + cause.remedy + "\n";
  return all;
}

AttentionInputs normed() {
  AttentionInputs inputs = grouped_heads();
  inputs.options.qk_norm = QkNorm::per_head;
  inputs.options.rotary_base = rope_base;
  inputs.tensors.q_norm_weight = random_tensor({{"D", 8}}, "q_norm.weight");
  inputs.tensors.k_norm_weight = random_tensor({{"D", 8}}, "k_norm.weight");
  return inputs;
}

}  // namespace

TEST_CASE("another kind of RoPE scaling is named, and how ours is set to it") {
  using enum RotaryScalingKind;
  for (const auto& [ours, theirs, named] : {std::tuple(yarn, llama3, "is llama3, not yarn"),
                                            {yarn, linear, "is linear, not yarn"},
                                            {yarn, longrope, "is longrope, not yarn"},
                                            {llama3, yarn, "is yarn, not llama3"},
                                            {llama3, linear, "is linear, not llama3"},
                                            {longrope, yarn, "is yarn, not longrope"},
                                            {longrope, llama3, "is llama3, not longrope"}}) {
    CAPTURE(named);
    const std::string causes = scaling_causes(grouped_heads(), scaling_of(ours), scaling_of(theirs));
    CAPTURE(causes);
    CHECK_CONTAINS(causes, std::string("the RoPE scaling ") + named + "; then everything agrees");
    CHECK_CONTAINS(causes, std::string("--set 'attention.rotary_scaling={\"rope_type\":\"") +
                               std::string(name_of(theirs)) + "\",\"factor\":4");
  }
  // A dynamic one is another base where the text is longer than in training.
  CHECK_CONTAINS(scaling_causes(grouped_heads(), scaling_of(yarn, 4.0, 3.0), scaling_of(dynamic, 4.0, 3.0)),
                 "is dynamic, not yarn");
}

TEST_CASE("another factor of RoPE's scaling is named, one from a list and any other") {
  for (const RotaryScalingKind kind : {RotaryScalingKind::yarn, RotaryScalingKind::llama3}) {
    CHECK_CONTAINS(scaling_causes(grouped_heads(), scaling_of(kind), scaling_of(kind, 2.0)),
                   "the factor of the RoPE scaling is 2, not 4");
    CHECK_CONTAINS(scaling_causes(grouped_heads(), scaling_of(kind), scaling_of(kind, 32.0)),
                   "scaling is 32, not 4");
    const std::string searched = scaling_causes(grouped_heads(), scaling_of(kind), scaling_of(kind, 5.75));
    CHECK_CONTAINS(searched, "scaling is 5.75, not 4");
    CHECK_CONTAINS(searched, "\"factor\":5.75");
  }
}

TEST_CASE("a RoPE that is not scaled, and other keys of the scaling, are named") {
  const RotaryScaling yarn = scaling_of(RotaryScalingKind::yarn);
  const auto theirs = [&](auto change) {
    RotaryScaling other = yarn;
    change(other);
    return scaling_causes(grouped_heads(), yarn, other);
  };
  CHECK_CONTAINS(theirs([](RotaryScaling& s) { s.truncate = false; }), "truncate is false");
  CHECK_CONTAINS(theirs([](RotaryScaling& s) { s.original_max_position_embeddings = 256; }),
                 "original_max_position_embeddings of the RoPE scaling is 256, not 64");
  const std::string unmultiplied = theirs([](RotaryScaling& s) { s.attention_factor = 1.0; });
  CHECK_CONTAINS(unmultiplied, "cos and sin are not multiplied by 1.138");
  CHECK_CONTAINS(unmultiplied, "\"attention_factor\":1}");
  CHECK_LACKS(unmultiplied, "--set attention.rotary_factor=1");
  const std::string unscaled = theirs([](RotaryScaling& s) { s = scaling_of(RotaryScalingKind::linear, 1.0); });
  CHECK_CONTAINS(unscaled, "RoPE is not scaled; then everything agrees --set attention.rotary_scaling=null");
  RotaryScaling deepseek = yarn;
  deepseek.mscale = 1.0;
  deepseek.mscale_all_dim = 0.5;
  CHECK_CONTAINS(scaling_causes(grouped_heads(), deepseek, yarn), "ignores mscale and mscale_all_dim");
}

TEST_CASE("the other list of longrope is named, within the length of training and beyond it") {
  for (const double length : {4.0, 64.0}) {
    const RotaryScaling ours = scaling_of(RotaryScalingKind::longrope, 4.0, length);
    RotaryScaling theirs = ours;
    std::swap(theirs.short_factor, theirs.long_factor);
    CHECK_CONTAINS(scaling_causes(grouped_heads(), ours, theirs),
                   length < 5 ? "takes short_factor, not long_factor" : "takes long_factor, not short_factor");
  }
}

TEST_CASE("another RoPE scaling of latents is named, in both layouts") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    AttentionOptions o = latent_options(layout);
    o.qk_rope_head_dim = 4;
    o.head_dim = 7;
    const AttentionInputs inputs = latent_inputs(o, {2, 5, 5});
    RotaryScaling ours = scaling_of(RotaryScalingKind::yarn), theirs = ours;
    theirs.kind = RotaryScalingKind::llama3;
    CHECK_CONTAINS(scaling_causes(inputs, ours, theirs), "the RoPE scaling is llama3, not yarn");
  }
}

TEST_CASE("any epsilon of a norm is searched for, of q and k and of latents") {
  const AttentionInputs inputs = normed();
  for (const auto& [epsilon, named] : {std::pair(1e-2, "is 0.01;"),
                                       {3e-4, "is 0.0003;"},
                                       {1e-5, "is 1e-05;"},
                                       {0.0, "is 0;"},
                                       {1.0, "is 1;"}}) {
    CAPTURE(epsilon);
    AttentionInputs theirs = inputs;
    theirs.options.qk_norm_epsilon = epsilon;
    CHECK_CONTAINS(causes_when(inputs, theirs), std::string("the epsilon of QK-norm ") + named);
  }
  const AttentionInputs latents = latent_inputs(latent_options(LatentLayout::absorbed), {2, 5, 5});
  AttentionInputs theirs = latents;
  theirs.options.latent_norm_epsilon = 1e-5;
  CHECK_CONTAINS(causes_when(latents, theirs), "the epsilon of the norm of the latents is 1e-05;");
}

TEST_CASE("rotated columns are taken behind the norm of q and k where it comes first") {
  const AttentionInputs inputs = normed();
  AttentionInputs theirs = inputs;
  theirs.options.rotary_pairs = RotaryPairs::neighbours;
  CHECK_CONTAINS(causes_when(inputs, theirs), "turns neighbouring columns (2j, 2j + 1) together");
  theirs = inputs;
  theirs.options.qk_norm.reset();
  theirs.tensors.q_norm_weight = theirs.tensors.k_norm_weight = nullptr;
  const std::string missing = causes_when(inputs, theirs);
  CHECK_CONTAINS(missing, "q and k are not normalised (no QK-norm)");
  CHECK_LACKS(missing, "rotary positions are counted");
}

TEST_CASE("a weight of QK-norm that is left out is named, of q, of k and of both") {
  const AttentionInputs inputs = normed();
  for (const bool of_queries : {true, false}) {
    AttentionInputs theirs = inputs;
    (of_queries ? theirs.tensors.q_norm_weight : theirs.tensors.k_norm_weight) =
        std::make_shared<const Tensor>(Shape{{"D", 8}}, std::vector<double>(8, 1.0));
    CHECK_CONTAINS(causes_when(inputs, theirs),
                   of_queries ? "QK-norm has no weights for q" : "QK-norm has no weights for k");
  }
  AttentionInputs theirs = inputs;
  theirs.tensors.q_norm_weight = theirs.tensors.k_norm_weight = nullptr;
  CHECK_CONTAINS(causes_when(inputs, theirs), "QK-norm has no weights: all are 1");
}
