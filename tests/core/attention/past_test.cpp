// A past and the lengths of a cache: a text that is computed in parts is the text computed at once, and what
// contradicts itself is refused.
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/attention/score_path.h"
#include "tests/checks.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/attention/refused_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// Rows [first, first + count) along an axis.
TensorPtr rows_along(const TensorPtr& x, Index axis, Index first, Index count) {
  std::vector<Axis> axes = x->shape().axes();
  axes[static_cast<std::size_t>(axis)].size = count;
  Tensor part(Shape(axes), x->dtype());
  for (Index i = 0; i < part.size(); ++i) {
    std::vector<Index> index = part.shape().index_of(i);
    index[static_cast<std::size_t>(axis)] += first;
    part.set_flat(i, x->at(index));
  }
  return std::make_shared<const Tensor>(std::move(part));
}

void check_same_numbers(const Tensor& got, const Tensor& expected) {
  REQUIRE(got.shape().same_sizes(expected.shape()));
  for (Index i = 0; i < got.size(); ++i) {
    INFO("cell " << i);
    CHECK(got.flat(i) == doctest::Approx(expected.flat(i)).epsilon(1e-12));
  }
}

AttentionInputs causal_latents(LatentLayout layout, Index length) {
  AttentionOptions o = latent_options(layout);
  o.is_causal = true;
  o.rotary_base = 10.0;
  AttentionInputs inputs = latent_inputs(o, {2, length, length});
  inputs.tensors.key = inputs.tensors.query;
  return inputs;
}

AttentionInputs causal_text(Index length) {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 4), {2, length, length});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  inputs.options.is_causal = true;
  return inputs;
}

// The last `count` tokens of a text, after the cache that a pass over those before leaves.
AttentionInputs continued(const AttentionInputs& text, Index count) {
  const Index length = text.tensors.query->shape().size(1), before = length - count;
  AttentionInputs first = text, last = text;
  first.tensors.query = first.tensors.key = rows_along(text.tensors.query, 1, 0, before);
  last.tensors.query = last.tensors.key = rows_along(text.tensors.query, 1, before, count);
  if (is_latent(text.options)) {
    const TracePtr cache = reference_forward(first);
    last.tensors.past_compressed_kv = cache->tensors.compressed_kv;
    last.tensors.past_k_rot = cache->tensors.k_rot;
    return last;
  }
  first.tensors.value = first.tensors.query;
  last.tensors.value = last.tensors.query;
  const TracePtr cache = reference_forward(first);
  last.tensors.past_key = keys_of_scores(cache->tensors, cache->options);
  last.tensors.past_value = values_of_sum(cache->tensors);
  return last;
}

AttentionInputs behind_past(AttentionInputs inputs, Index length = 3) {
  inputs.tensors.past_key = random_tensor({{"N", 2}, {"G", 2}, {"P", length}, {"D", 4}}, "past_key");
  inputs.tensors.past_value = random_tensor({{"N", 2}, {"G", 2}, {"P", length}, {"Dv", 4}}, "past_value");
  return inputs;
}

AttentionInputs behind_latents(AttentionInputs inputs, Index length = 3) {
  inputs.tensors.past_compressed_kv =
      random_tensor({{"N", 2}, {"P", length}, {"C", 5}}, "past_compressed_kv");
  inputs.tensors.past_k_rot = random_tensor({{"N", 2}, {"1", 1}, {"P", length}, {"R", 2}}, "past_k_rot");
  return inputs;
}

AttentionInputs few_tokens(Index queries = 3, Index keys = 5) {
  return random_inputs(small_options(4, 2, 4), {2, queries, keys});
}

AttentionInputs of_lengths(AttentionInputs inputs, std::vector<std::int64_t> lengths) {
  const auto count = static_cast<Index>(lengths.size());
  inputs.tensors.nonpad_kv_seqlen = std::make_shared<const Tensor>(Shape{{"N", count}}, std::move(lengths));
  return inputs;
}

bool is_seen(const Trace& trace, Index n, Index query, Index key) {
  return trace.tensors.mask_bias->at({n, 0, query, key}) == 0.0;
}

using Change = std::pair<const char*, std::function<void(AttentionInputs&)>>;

// These changes of a text, and those that do the same to keys of heads and of latents.
std::vector<Change> with_masks_and_sinks(std::vector<Change> changes) {
  const Change both[] = {
      {"ALiBi and a window",
       [](AttentionInputs& in) {
         in.options.alibi = true;
         in.options.sliding_window = 4;
       }},
      {"bottom right", [](AttentionInputs& in) { in.options.causal_alignment = CausalAlignment::bottom_right; }},
      {"sinks", [](AttentionInputs& in) { in.options.sink = {0.5}; }}};
  changes.insert(changes.end(), std::begin(both), std::end(both));
  return changes;
}

}  // namespace

TEST_CASE("a text computed token by token after a cache is the text computed at once") {
  const std::vector<Change> kinds =
      with_masks_and_sinks({{"causal", [](AttentionInputs&) {}},
                            {"rotary", [](AttentionInputs& in) { in.options.rotary_base = 10.0; }},
                            {"QK-norm before RoPE",
                             [](AttentionInputs& in) {
                               in.options.rotary_base = 10.0;
                               in.options.qk_norm = QkNorm::per_head;
                             }},
                            {"QK-norm after RoPE", [](AttentionInputs& in) {
                               in.options.rotary_base = 10.0;
                               in.options.qk_norm = QkNorm::per_head_after_rotary;
                             }}});
  for (const auto& [name, change] : kinds)
    for (const Index count : {1, 3}) {
      INFO(name << ", the last " << count);
      AttentionInputs text = causal_text(7);
      change(text);
      const TracePtr whole = reference_forward(text), part = reference_forward(continued(text, count));
      check_same_numbers(*part->tensors.output, *rows_along(whole->tensors.output, 1, 7 - count, count));
      check_same_numbers(*part->tensors.present_key, *keys_of_scores(whole->tensors, whole->options));
      check_same_numbers(*part->tensors.present_value, *whole->tensors.v_heads);
    }
}

TEST_CASE(
    "latents computed token by token after a cache of them are those computed at once, in both layouts") {
  const std::vector<Change> kinds = with_masks_and_sinks(
      {{"RoPE of neighbours", [](AttentionInputs& in) { in.options.rotary_pairs = RotaryPairs::neighbours; }},
       {"no RoPE", [](AttentionInputs& in) { in.options.rotary_base.reset(); }}});
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed})
    for (const auto& [name, change] : kinds)
      for (const Index count : {1, 3}) {
        INFO(name << ", layout " << static_cast<int>(layout) << ", the last " << count);
        AttentionInputs text = causal_latents(layout, 7);
        change(text);
        const TracePtr whole = reference_forward(text), part = reference_forward(continued(text, count));
        check_same_numbers(*part->tensors.output, *rows_along(whole->tensors.output, 1, 7 - count, count));
        check_same_numbers(*part->tensors.present_compressed_kv, *whole->tensors.compressed_kv);
        check_same_numbers(*part->tensors.present_k_rot, *whole->tensors.k_rot);
        for (const Id id : {Id::kv_b, Id::k_heads, Id::v_heads, Id::k_absorbed})
          if (const TensorPtr made = part->tensor(id)) check_same_numbers(*made, *whole->tensor(id));
      }
}

TEST_CASE("only the new tokens of latents are projected, and all of them are expanded") {
  const TracePtr trace = reference_forward(behind_latents(causal_latents(LatentLayout::expanded, 4)));
  const TraceTensors& t = trace->tensors;
  CHECK(t.kv_a->shape() == Shape{{"N", 2}, {"S", 4}, {"C+R", 7}});
  CHECK(t.present_compressed_kv->shape() == Shape{{"N", 2}, {"P+S", 7}, {"C", 5}});
  CHECK(t.present_k_rot->shape() == Shape{{"N", 2}, {"1", 1}, {"P+S", 7}, {"R", 2}});
  CHECK(t.kv_b->shape() == Shape{{"N", 2}, {"P+S", 7}, {"H·(Dn+Dv)", 24}});
  CHECK(t.k_heads->shape() == Shape{{"N", 2}, {"G", 4}, {"P+S", 7}, {"D", 5}});
  CHECK(t.scores->shape() == Shape{{"N", 2}, {"H", 4}, {"L", 4}, {"P+S", 7}});
}

TEST_CASE("latents after a past in blocks of queries have the bits of the whole") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = behind_latents(causal_latents(layout, 4));
    const TracePtr whole = reference_forward(inputs);
    const TracePtr parts = reference_forward_of(inputs, {{Id::output}, {Id::attn_weights}}, 0, 8);
    CHECK(identical(*parts->tensors.output, *whole->tensors.output));
    CHECK(identical(*parts->tensors.attn_weights, *whole->tensors.attn_weights));
  }
}

TEST_CASE("a latent of the cache says that it was given, and one of this pass stands after the cache") {
  const TracePtr trace = reference_forward(behind_latents(causal_latents(LatentLayout::absorbed, 4)));
  const auto cell = [&](Id id, const std::vector<Index>& index) {
    return cell_provenance(*trace, {id}, index);
  };
  CHECK(cell(Id::past_compressed_kv, {0, 1, 2}).note ==
        "Given: latents of earlier tokens, as a cache keeps them.");
  CHECK(cell(Id::present_compressed_kv, {0, 1, 2}).note ==
        "Row 1 of the cache: it was computed in an earlier pass.");
  CHECK(cell(Id::present_compressed_kv, {0, 5, 2}).formula ==
        "present_compressed_kv[0,5,2] = compressed_kv[0,2,2]");
  CHECK(cell(Id::present_k_rot, {0, 0, 5, 1}).note == "Row 2 of this pass, after the 3 of the cache.");
  CHECK(cell(Id::k_absorbed, {0, 0, 1, 6}).formula == "k_absorbed[0,0,1,6] = present_k_rot[0,0,1,1]");
  CHECK(cell(Id::k_rot, {0, 0, 2, 0}).note.starts_with("Position 5: "));
}

TEST_CASE("a past that an operator's cache does not keep is refused, with what to give instead") {
  AttentionInputs latents = causal_latents(LatentLayout::absorbed, 4);
  CHECK(refusal_of(behind_latents(latents)) == "accepted");
  AttentionInputs wrong = latents;
  wrong.tensors.past_key = wrong.tensors.past_value =
      random_tensor({{"N", 2}, {"G", 4}, {"P", 3}, {"D", 5}}, "past_key");
  CHECK(refusal_of(wrong) ==
        "past_key: this operator's cache keeps other tensors: got (2,4,3,5); expected past_compressed_kv "
        "(N,P,C) and past_k_rot (N,1,P,R); give those, or choose multi_head_attention");
  CHECK(refusal_of(behind_latents(few_tokens())) ==
        "past_compressed_kv: this operator's cache keeps other tensors: got (2,3,5); expected past_key "
        "(N,G,P,D) and past_value (N,G,P,Dv); give those, or choose multi_head_latent_attention");
  wrong = behind_latents(latents);
  wrong.tensors.past_compressed_kv = nullptr;
  CHECK(refusal_of(wrong) ==
        "past_k_rot: past_compressed_kv and past_k_rot come together: got past_k_rot alone; expected both or "
        "neither; give past_compressed_kv too");
  wrong = behind_latents(latents);
  wrong.tensors.past_k_rot = random_tensor({{"N", 2}, {"1", 1}, {"P", 2}, {"R", 2}}, "past_k_rot");
  CHECK(refusal_of(wrong).starts_with("past_compressed_kv: "));
  wrong.tensors.past_k_rot = random_tensor({{"N", 2}, {"P", 3}, {"R", 2}}, "past_k_rot");
  CHECK(refusal_of(wrong).starts_with("past_compressed_kv: the number of axes disagrees"));
  CHECK(refusal_of(of_lengths(behind_latents(latents), {5, 2})) ==
        "nonpad_kv_seqlen: the place of the queries is given twice: got nonpad_kv_seqlen beside "
        "past_compressed_kv; expected one or the other; leave one out");
  CHECK(refusal_of(of_lengths(latents, {4, 2})) == "accepted");
}

TEST_CASE("a present is the past with the rows of this pass after it, and appended rows at the end") {
  AttentionInputs inputs = behind_past(few_tokens());
  inputs.tensors.bias_k = random_tensor({{"G·D", 8}}, "bias_k");
  inputs.tensors.bias_v = random_tensor({{"G·Dv", 8}}, "bias_v");
  inputs.options.add_zero_attn = true;
  const TracePtr trace = reference_forward(inputs);
  const TraceTensors& t = trace->tensors;
  CHECK(t.present_key->shape() == Shape{{"N", 2}, {"G", 2}, {"P+S′", 10}, {"D", 4}});
  CHECK(t.scores->shape() == Shape{{"N", 2}, {"H", 4}, {"L", 3}, {"P+S′", 10}});
  CHECK(t.k_heads->shape() == Shape{{"N", 2}, {"G", 2}, {"S′", 7}, {"D", 4}});
  check_same_numbers(*rows_along(t.present_key, 2, 0, 3), *inputs.tensors.past_key);
  check_same_numbers(*rows_along(t.present_key, 2, 3, 7), *t.k_heads);
  check_same_numbers(*rows_along(t.present_value, 2, 3, 7), *t.v_heads);
}

TEST_CASE(
    "a query sees keys up to its own place after the past; from the bottom right the last stands at the "
    "end") {
  AttentionInputs inputs = behind_past(few_tokens(2, 4));
  inputs.options.is_causal = true;
  const TracePtr top = reference_forward(inputs);
  inputs.options.causal_alignment = CausalAlignment::bottom_right;
  const TracePtr bottom = reference_forward(inputs);
  for (Index key = 0; key < 7; ++key)
    for (Index query = 0; query < 2; ++query) {
      CHECK(is_seen(*top, 0, query, key) == (key <= query + 3));
      CHECK(is_seen(*bottom, 0, query, key) == (key <= query + 5));
    }
}

TEST_CASE("both alignments are one where a past and as many keys as queries are given") {
  AttentionInputs inputs = behind_past(causal_text(4));
  inputs.options.rotary_base = 10.0;
  const TracePtr top = reference_forward(inputs);
  inputs.options.causal_alignment = CausalAlignment::bottom_right;
  check_same_numbers(*reference_forward(inputs)->tensors.output, *top->tensors.output);
}

TEST_CASE("with nonpad_kv_seqlen the last query stands at the last key that is there, in each batch entry") {
  AttentionInputs inputs = of_lengths(few_tokens(3, 6), {5, 2});
  const TracePtr lengths_alone = reference_forward(inputs);
  inputs.options.is_causal = true;
  const TracePtr causal = reference_forward(inputs);
  inputs.options.window_left = 1;
  const TracePtr windowed = reference_forward(inputs);
  for (const Index n : {0, 1})
    for (Index query = 0; query < 3; ++query)
      for (Index key = 0; key < 6; ++key) {
        const Index length = n == 0 ? 5 : 2, own = query + length - 3;
        CHECK(is_seen(*lengths_alone, n, query, key) == (key < length));
        CHECK(is_seen(*causal, n, query, key) == (key <= own));
        CHECK(is_seen(*windowed, n, query, key) == (key <= own && key >= own - 1));
      }
}

TEST_CASE("a past of no token changes nothing but the name of the keys") {
  AttentionInputs inputs = few_tokens(4, 4);
  inputs.options.is_causal = true;
  inputs.options.rotary_base = 10.0;
  const TracePtr without = reference_forward(inputs);
  const TracePtr with = reference_forward(behind_past(inputs, 0));
  check_same_numbers(*with->tensors.output, *without->tensors.output);
  check_same_numbers(*with->tensors.present_key, *without->tensors.k_rotary);
  CHECK(reference_backward(*with)->grad.past_key->size() == 0);
  const AttentionInputs latents = causal_latents(LatentLayout::expanded, 4);
  const TracePtr behind_none = reference_forward(behind_latents(latents, 0));
  check_same_numbers(*behind_none->tensors.output, *reference_forward(latents)->tensors.output);
  CHECK(reference_backward(*behind_none)->grad.past_k_rot->size() == 0);
}

TEST_CASE("a past that does not fit is refused with the reason") {
  AttentionInputs inputs = behind_past(few_tokens());
  CHECK(refusal_of(inputs) == "accepted");
  inputs.tensors.past_value = nullptr;
  CHECK(refusal_of(inputs) ==
        "past_key: past_key and past_value come together: got past_key alone; expected both or neither; give "
        "past_value too");
  inputs = behind_past(few_tokens());
  inputs.tensors.past_key = random_tensor({{"N", 2}, {"G", 4}, {"P", 3}, {"D", 4}}, "past_key");
  CHECK(refusal_of(inputs).starts_with("past_key: "));
  inputs.tensors.past_key = random_tensor({{"N", 1}, {"G", 2}, {"P", 3}, {"D", 4}}, "past_key");
  CHECK(refusal_of(inputs).starts_with("past_key: "));
  inputs = behind_past(few_tokens());
  inputs.tensors.past_value = random_tensor({{"N", 2}, {"G", 2}, {"P", 4}, {"Dv", 4}}, "past_value");
  CHECK(refusal_of(inputs).starts_with("past_value: "));
  inputs = behind_past(few_tokens());
  inputs.tensors.static_k = random_tensor({{"N", 2}, {"G", 2}, {"S", 5}, {"D", 4}}, "static_k");
  CHECK(
      refusal_of(inputs) ==
      "past_key: a past comes before projected keys and values, and static_k and static_v replace those: got "
      "past_key and static_k; expected one or the other; leave one out");
}

TEST_CASE("lengths of a cache that cannot be are refused") {
  CHECK(refusal_of(of_lengths(few_tokens(), {5, 0})) == "accepted");
  CHECK(
      refusal_of(of_lengths(few_tokens(), {5, 6})) ==
      "nonpad_kv_seqlen: a length is out of range: got 6 at cell 1; expected 0 to S = 5; it is the number of "
      "valid keys, counted from the first");
  CHECK(
      refusal_of(of_lengths(few_tokens(), {-1, 2})).starts_with("nonpad_kv_seqlen: a length is out of range"));
  CHECK(refusal_of(of_lengths(few_tokens(), {5, 2, 3})).starts_with("nonpad_kv_seqlen: "));
  CHECK(refusal_of(of_lengths(behind_past(few_tokens()), {5, 2})) ==
        "nonpad_kv_seqlen: the place of the queries is given twice: got nonpad_kv_seqlen beside past_key; "
        "expected one or the other; leave one out");
}
