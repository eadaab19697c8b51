// The indexer: which keys it chooses, and that the choice is a mask like any other.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/attention_sizes.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/indexer.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/attention/trace_warnings.h"
#include "tests/checks.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/attention/refused_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();

AttentionInputs indexed_inputs(Indexer indexer = {2, 5, 2}, DType dtype = DType::f64) {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 4), {2, 5, 6}, dtype);
  AttentionOptions& o = inputs.options;
  TraceTensors& t = inputs.tensors;
  o.indexer = indexer;
  o.is_causal = true;
  const Axis width{"W", indexer.width};
  t.indexer_wq_b = random_tensor({{"Hi·W", indexer.heads * indexer.width}, {"E", o.embed_dim}},
                                 "indexer.wq_b.weight", dtype);
  t.indexer_wk = random_tensor({width, {"kdim", o.kdim}}, "indexer.wk.weight", dtype);
  t.indexer_k_norm_weight = random_tensor({width}, "indexer.k_norm.weight", dtype);
  t.indexer_k_norm_bias = random_tensor({width}, "indexer.k_norm.bias", dtype);
  t.indexer_weights_proj =
      random_tensor({{"Hi", indexer.heads}, {"E", o.embed_dim}}, "indexer.weights_proj.weight", dtype);
  return inputs;
}

// Of latents, with RoPE in neighbouring columns of the layer and halves of the indexer, as DeepSeek-V3.2.
AttentionInputs indexed_latents(LatentLayout layout, DType dtype = DType::f64) {
  AttentionOptions o = latent_options(layout);
  o.q_lora_rank = 6;
  o.is_causal = true;
  o.rotary_base = 10.0;
  o.rotary_pairs = RotaryPairs::neighbours;
  AttentionInputs inputs = latent_inputs(o, {2, 5, 5}, dtype);
  inputs.options.indexer = Indexer{2, 4, 2};
  TraceTensors& t = inputs.tensors;
  t.indexer_wq_b = random_tensor({{"Hi·W", 8}, {"Cq", 6}}, "indexer.wq_b.weight", dtype);
  t.indexer_wk = random_tensor({{"W", 4}, {"kdim", 8}}, "indexer.wk.weight", dtype);
  t.indexer_weights_proj = random_tensor({{"Hi", 2}, {"E", 8}}, "indexer.weights_proj.weight", dtype);
  return inputs;
}

// The keys that are chosen, in their order: "1 4".
std::string chosen(std::vector<double> scores, Index k, std::vector<char> allowed = {}) {
  allowed.resize(scores.size(), 1);
  const ChosenKeys keys(scores, allowed, k);
  std::string text;
  for (Index s = 0; s < std::ssize(scores); ++s)
    if (keys(s)) text += (text.empty() ? "" : " ") + std::to_string(s);
  return text;
}

// The inputs with the choice as a given mask, in place of the indexer.
AttentionInputs with_choice_as_mask(const AttentionInputs& inputs, const Trace& trace) {
  AttentionInputs masked = inputs;
  masked.options.indexer.reset();
  for (const TensorEntry& entry : tensor_entries())
    if (is_of_indexer(entry.id)) masked.tensors.*(entry.member) = nullptr;
  const Shape& shape = trace.tensors.mask_bias->shape();
  Tensor mask(Shape{{"N·H", shape.size(0) * shape.size(1)}, {"L", shape.size(2)}, {"S", shape.size(3)}},
              DType::boolean);
  for (Index i = 0; i < mask.size(); ++i)
    mask.set_flat(i, trace.tensors.mask_bias->flat(i) == -no_bound ? 1.0 : 0.0);
  masked.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
  return masked;
}

void check_same(const Tensor& got, const Tensor& expected) {
  REQUIRE(got.shape() == expected.shape());
  Index different = 0;
  for (Index i = 0; i < got.size(); ++i) different += got.flat(i) == expected.flat(i) ? 0 : 1;
  CHECK(different == 0);
}

}  // namespace

TEST_CASE("of the keys that are left the k with the largest scores are chosen, of equal ones the first") {
  CHECK(chosen({0.1, 3.0, -2.0, 2.0}, 2) == "1 3");
  CHECK(chosen({0.0, 1.0, 0.0, 0.0}, 3) == "0 1 2");
  CHECK(chosen({5.0, 5.0, 5.0}, 1) == "0");
  CHECK(chosen({5.0, 1.0, 4.0, 3.0}, 2, {0, 1, 1, 1}) == "2 3");
  CHECK(chosen({5.0, 1.0}, 2) == "0 1");
  CHECK(chosen({5.0, 1.0, 2.0}, 7, {1, 0, 1}) == "0 2");
  CHECK(chosen({1.0, 2.0}, 1, {0, 0}).empty());
  CHECK(chosen({}, 1).empty());
}

TEST_CASE("a score that is no number counts as the largest, as in torch.topk") {
  const double nan = std::nan("");
  CHECK(chosen({1.0, nan, no_bound, 2.0}, 1) == "1");
  CHECK(chosen({1.0, nan, no_bound, 2.0}, 2) == "1 2");
  CHECK(chosen({nan, 1.0, nan, nan}, 2) == "0 2");
  CHECK(chosen({-no_bound, -no_bound, 1.0}, 2) == "0 2");
}

TEST_CASE("an indexer's choice is the mask that it makes, in the weights, the output and every gradient") {
  const AttentionInputs inputs = indexed_inputs();
  const TracePtr forward = reference_forward(inputs);
  const TensorPtr seed = random_tensor(forward->tensors.output->shape(), "grad_output");
  const TracePtr trace = reference_backward(*forward, seed);
  const TracePtr masked = reference_backward(*reference_forward(with_choice_as_mask(inputs, *trace)), seed);
  check_same(*trace->tensors.attn_weights, *masked->tensors.attn_weights);
  check_same(*trace->tensors.output, *masked->tensors.output);
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr gradient = trace->tensor({entry.id, true});
    CAPTURE(entry.name);
    CHECK((gradient != nullptr) == (masked->tensor({entry.id, true}) != nullptr));
    if (gradient) check_same(*gradient, *masked->tensor({entry.id, true}));
  }
  CHECK_FALSE(trace->grad.indexer_wk);
  CHECK_CONTAINS(why_absent(*trace, {Id::indexer_wk, true}), "no gradient goes through the indexer's choice");
  // Row 4 sees five keys, of which two take part.
  Index left = 0;
  for (Index s = 0; s < 6; ++s) left += trace->tensors.attn_weights->at({1, 2, 4, s}) > 0.0 ? 1 : 0;
  CHECK(left == 2);
}

TEST_CASE("an indexer of latents is made of compressed_q, and its choice is a mask in both layouts") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = indexed_latents(layout);
    const TracePtr forward = reference_forward(inputs);
    const TensorPtr seed = random_tensor(forward->tensors.output->shape(), "grad_output");
    const TracePtr trace = reference_backward(*forward, seed);
    const TracePtr masked = reference_backward(*reference_forward(with_choice_as_mask(inputs, *trace)), seed);
    check_same(*trace->tensors.output, *masked->tensors.output);
    for (const Id id : {Id::query, Id::compressed_q, Id::q_a_weight, Id::kv_b_weight})
      check_same(*trace->tensor({id, true}), *masked->tensor({id, true}));
    CHECK_FALSE(trace->grad.indexer_wq_b);
    const CellProvenance cell = cell_provenance(*trace, {Id::indexer_q}, {1, 1, 2, 1});
    CHECK_CONTAINS(cell.formula, "compressed_q[1,2,");
    CHECK_CONTAINS(cell.formula, "indexer.wq_b.weight[");
    CHECK_CONTAINS(cell.formula, "θ = 2 · ");
    const AttentionInputs narrow = indexed_latents(layout, DType::f32);
    check_same(*reference_forward(narrow)->tensors.mask_bias, *trace->tensors.mask_bias);
  }
}

TEST_CASE("an indexer of latents without a compressed query is refused") {
  AttentionInputs inputs = indexed_latents(LatentLayout::expanded);
  inputs.options.q_lora_rank.reset();
  CHECK_CONTAINS(refusal_of(inputs), "mask.indexer: the indexer's queries are made of compressed_q");
  inputs = indexed_latents(LatentLayout::expanded);
  inputs.tensors.indexer_wq_b = random_tensor({{"Hi·W", 8}, {"E", 8}}, "indexer.wq_b.weight");
  CHECK_CONTAINS(refusal_of(inputs), "(Hi·W,Cq) = (8,6)");
}

TEST_CASE("full_weights are the weights of the same layer without its indexer") {
  for (const bool frozen : {false, true}) {
    AttentionInputs inputs = indexed_inputs();
    inputs.options.sink = {0.4};
    inputs.options.alibi = true;
    if (frozen) {
      inputs.options.frozen_heads = {1};
      inputs.tensors.frozen_weights =
          random_tensor({{"N", 2}, {"F", 1}, {"L", 5}, {"S", 6}}, "frozen_weights");
    }
    const TracePtr trace = reference_forward(inputs);
    inputs.options.indexer.reset();
    for (const TensorEntry& entry : tensor_entries())
      if (is_of_indexer(entry.id)) inputs.tensors.*(entry.member) = nullptr;
    const TracePtr without = reference_forward(inputs);
    check_same(*trace->tensors.full_weights, *without->tensors.attn_weights);
    CHECK_FALSE(without->tensors.full_weights);
    CHECK_CONTAINS(why_absent(*without, {Id::indexer_scores}), "mask.indexer is null");
  }
}

TEST_CASE("a blocked cell of mask_bias says which rank its key has, and whose scores decided") {
  const TracePtr trace = reference_forward(indexed_inputs());
  Index blocked = 0, kept = 0, ahead = 0;
  for (Index s = 0; s < 6; ++s) {
    const CellProvenance cell = cell_provenance(*trace, {Id::mask_bias}, {0, 1, 3, s});
    if (s > 3) {
      ahead += cell.note.starts_with("Another mask blocks this key") ? 1 : 0;
      continue;
    }
    const bool is_blocked = cell.value == -no_bound;
    (is_blocked ? blocked : kept) += 1;
    CHECK_CONTAINS(cell.note, is_blocked ? "Not among the k = 2 largest of indexer_scores: rank "
                                         : "Among the k = 2 largest of indexer_scores: rank ");
    CHECK_CONTAINS(cell.note, " of the 4 keys that the masks leave; rank 2 has ");
    CHECK_CONTAINS(cell.formula, "(−∞ unless indexer_scores[0,3,");
    const auto row = std::ranges::find(cell.sources, TensorName{Id::indexer_scores}, &BoxRef::tensor);
    REQUIRE(row != cell.sources.end());
    CHECK(row->begin == std::vector<Index>{0, 3, 0});
    CHECK(row->end == std::vector<Index>{1, 4, 6});
  }
  CHECK(blocked == 2);
  CHECK(kept == 2);
  CHECK(ahead == 2);
  CHECK_CONTAINS(cell_provenance(*trace, {Id::mask_bias}, {0, 1, 1, 0}).note, "not more than k = 2");
  for (Index s = 0; s < 6; ++s) {
    const bool left_out = s <= 3 && trace->tensors.mask_bias->at({0, 1, 3, s}) == -no_bound;
    CHECK(cell_provenance(*trace, {Id::full_weights}, {0, 1, 3, s})
              .note.starts_with("The indexer does not choose this key") == left_out);
  }
}

TEST_CASE("the formulas of the indexer's cells are those of its paper") {
  AttentionInputs inputs = indexed_inputs();
  const TracePtr plain = reference_forward(inputs);
  CHECK(
      cell_provenance(*plain, {Id::indexer_scores}, {1, 2, 4}).formula ==
      "indexer_scores[1,2,4] = Σ_m indexer_weights[1,2,m] · ReLU(Σ_d indexer_q[1,m,2,d] · indexer_k[1,0,4,d] "
      "/ √5)");
  CHECK(cell_provenance(*plain, {Id::indexer_weights}, {1, 2, 1}).formula ==
        "indexer_weights[1,2,1] = Σ_e query[1,2,e] · indexer.weights_proj.weight[1,e] / √2");
  CHECK(cell_provenance(*plain, {Id::indexer_q}, {1, 1, 2, 3}).formula ==
        "indexer_q[1,1,2,3] = Σ_e query[1,2,e] · indexer.wq_b.weight[8,e]");
  inputs.options.rotary_base = 10.0;
  const TracePtr turned = reference_forward(inputs);
  const CellProvenance key = cell_provenance(*turned, {Id::indexer_k}, {1, 0, 3, 2});
  CHECK_CONTAINS(key.formula, "(indexer.k_norm.weight[2] · n[2] + indexer.k_norm.bias[2]) · cos θ + (");
  CHECK_CONTAINS(key.formula, "n[j] = (Σ_e key[1,3,e] · indexer.wk.weight[j,e] − mean) / √(variance + ε)");
  CHECK_CONTAINS(key.note, "Position 3: the column is rotated with column 0");
  CHECK_CONTAINS(cell_provenance(*turned, {Id::indexer_q}, {1, 1, 2, 0}).formula, "· sin θ, θ = 2 · 1");
  CHECK_CONTAINS(cell_provenance(*turned, {Id::full_weights}, {1, 1, 2, 0}).formula,
                 "without the indexer's choice");
}

TEST_CASE("an edit of the indexer makes the choice again, and nothing before it") {
  AttentionInputs inputs = indexed_inputs();
  const TracePtr first = reference_forward(inputs);
  const auto computed = [&](const AttentionInputs& next) {
    return reference_forward(next, first.get())->computed;
  };
  CHECK(computed(inputs).empty());
  AttentionInputs other = inputs;
  other.options.indexer->k = 3;
  CHECK(std::ranges::count(computed(other), Id::mask_bias) == 1);
  CHECK(std::ranges::count(computed(other), Id::indexer_scores) == 0);
  CHECK(std::ranges::count(computed(other), Id::full_weights) == 0);
  other = inputs;
  other.tensors.indexer_wk = random_tensor(inputs.tensors.indexer_wk->shape(), "another");
  CHECK(std::ranges::count(computed(other), Id::indexer_q) == 0);
  CHECK(std::ranges::count(computed(other), Id::scores) == 0);
  CHECK(std::ranges::count(computed(other), Id::mask_bias) == 1);
  other = inputs;
  other.options.scale = 0.3;
  CHECK(std::ranges::count(computed(other), Id::mask_bias) == 0);
  CHECK(std::ranges::count(computed(other), Id::full_weights) == 1);
}

TEST_CASE("rows computed a block at a time look at the keys of their own places") {
  for (const DType dtype : {DType::f64, DType::f32}) {
    const AttentionInputs inputs = indexed_inputs({2, 5, 2}, dtype);
    const TracePtr whole = reference_forward(inputs);
    const TracePtr parts =
        reference_forward_of(inputs, {{Id::output}, {Id::full_weights}, {Id::attn_weights}}, 0, 1);
    REQUIRE(parts->tensors.full_weights);
    for (const Id id : {Id::output, Id::full_weights, Id::attn_weights}) {
      const Tensor &got = *parts->tensor(id), &expected = *whole->tensor(id);
      for (Index i = 0; i < got.size(); ++i)
        CHECK(std::abs(got.flat(i) - expected.flat(i)) <= (dtype == DType::f64 ? 0.0 : 1e-6));
    }
    CHECK_FALSE(reference_forward_of(inputs, {{Id::output}}, 0, 1)->tensors.full_weights);
  }
}

TEST_CASE("an indexer that keeps every key is told, not refused") {
  AttentionInputs inputs = indexed_inputs({2, 5, 6});
  const TracePtr trace = reference_forward(inputs);
  REQUIRE(trace->warnings.size() == 1);
  CHECK(trace->warnings[0] == "mask.indexer: k = 6 of 6 keys: every key that the masks leave takes part");
  check_same(*trace->tensors.attn_weights, *trace->tensors.full_weights);
}

TEST_CASE("sizes that do not fit, and keys that the indexer does not have, are refused with what is wrong") {
  const auto problem_of = [](const Indexer& indexer, std::size_t pairs) {
    AttentionOptions options = small_options(4, 2, 8);
    options.indexer = indexer;
    options.rotary_inverse_frequencies.assign(pairs, 0.5);
    return indexer_problem(options);
  };
  CHECK(problem_of({2, 4, 1}, 3) ==
        "width = 4: the layer rotates 6 columns, so give the indexer at least as many");
  CHECK(problem_of({0, 4, 1}, 0).starts_with("heads = 0"));
  CHECK(problem_of({1, 4, 0}, 0) == "k = 0: expected 1 or more");
  AttentionInputs inputs = indexed_inputs();
  inputs.options.indexer.reset();
  CHECK_CONTAINS(refusal_of(inputs), "nothing is chosen by it");
  inputs = indexed_inputs();
  inputs.options.indexer->width = 6;
  CHECK_CONTAINS(refusal_of(inputs), "mask.indexer says its heads and its width");
  inputs = indexed_inputs();
  inputs.tensors.indexer_wk = nullptr;
  CHECK_CONTAINS(refusal_of(inputs), "the parameter is missing");
  inputs = indexed_inputs();
  inputs.options.add_zero_attn = true;
  CHECK_CONTAINS(refusal_of(inputs), "the indexer has keys of its own");
  inputs = indexed_inputs();
  inputs.options.rotary_base = 10.0;
  inputs.options.indexer->width = 3;
  CHECK_CONTAINS(refusal_of(inputs), "the layer rotates 4 columns");
}
