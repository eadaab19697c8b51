// What must hold of attention whatever its options are: which cells depend on which, and what may be
// exchanged, forward and backward.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rotary_embedding.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr double symmetry_rounding = 1e-12;
constexpr std::uint64_t combinations = 60;

TensorPtr kept(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

// out[i] = x[index(i)]: cells moved along axes.
TensorPtr gathered(const TensorPtr& x, const std::function<void(std::vector<Index>&)>& source) {
  Tensor out = *x;
  for (Index i = 0; i < out.size(); ++i) {
    auto index = out.shape().index_of(i);
    source(index);
    out.set_flat(i, x->at(index));
  }
  return kept(std::move(out));
}

// The entries of an axis in another order.
TensorPtr permuted(const TensorPtr& x, std::size_t axis, const std::vector<Index>& order) {
  if (!x || x->shape().sizes()[axis] == 1) return x;
  return gathered(
      x, [&](std::vector<Index>& index) { index[axis] = order[static_cast<std::size_t>(index[axis])]; });
}

TensorPtr output_of_symmetry(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  return t.layer_norm_output ? t.layer_norm_output : t.residual_output ? t.residual_output : t.output;
}

TracePtr run(const AttentionInputs& inputs) {
  const TracePtr forward = reference_forward(inputs);
  return reference_backward(*forward, random_tensor(output_of_symmetry(*forward)->shape(), "grad_output"));
}

void check_same(const std::string& name, const TensorPtr& got, const TensorPtr& expected,
                const std::string& options) {
  REQUIRE_MESSAGE(!got == !expected, name, ": ", options);
  if (!got) return;
  const auto difference = first_difference(name, *got, *expected, symmetry_rounding, 0.1);
  CHECK_MESSAGE(!difference, options, ": ", difference.value_or(""));
}

bool depends_on_position(const AttentionOptions& o) {
  return depends_on_distance(o) || o.dropout > 0.0 || has_rotary_embedding(o);
}

// Cross-attention with arrays of its own for key and value, so that one may change without the other.
bool has_own_keys(const AttentionInputs& inputs) {
  return inputs.tensors.key != inputs.tensors.query && !inputs.tensors.static_k;
}

}  // namespace

TEST_CASE("the gradient of query i reaches key j exactly where the causal mask and the window let it") {
  const Index lengths[][2] = {{4, 4}, {3, 6}, {6, 3}, {1, 5}};
  for (const auto& length : lengths) {
    for (const CausalAlignment alignment : {CausalAlignment::top_left, CausalAlignment::bottom_right}) {
      for (const Index window : {0, 1, 2, 3}) {
        for (const bool causal : {false, true}) {
          const Index queries = length[0], keys = length[1];
          AttentionInputs inputs = random_inputs(small_options(), {1, queries, keys});
          inputs.options.is_causal = causal;
          inputs.options.causal_alignment = alignment;
          inputs.options.fully_masked_rows = FullyMaskedRows::zero;
          if (window > 0) inputs.options.sliding_window = window;
          const TracePtr forward = reference_forward(inputs);
          for (Index i = 0; i < queries; ++i) {
            Tensor at_query(forward->tensors.output->shape(), DType::f64);
            for (Index e = 0; e < 12; ++e) at_query.set_flat(i * 12 + e, 1.0 + 0.1 * static_cast<double>(e));
            const TracePtr trace = reference_backward(*forward, kept(at_query));
            for (Index j = 0; j < keys; ++j) {
              const Index offset = alignment == CausalAlignment::bottom_right ? keys - queries : 0;
              const Index back = i + offset - j;
              const bool seen = (!causal || back >= 0) && (window == 0 || std::abs(back) < window);
              double largest = 0.0;
              for (Index e = 0; e < 12; ++e)
                largest = std::max(largest, std::abs(trace->grad.value->at({0, j, e})));
              CHECK((largest > 0.0) == seen);
              CHECK((forward->tensors.attn_weights->at({0, 2, i, j}) > 0.0) == seen);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a key that the mask ignores may hold any finite number: nothing changes, forward or backward") {
  Index looked_at = 0;
  for (std::uint64_t seed = 0; seed < combinations; ++seed) {
    auto [name, inputs] = random_combination(seed);
    if (!has_own_keys(inputs) || inputs.options.mask_value) continue;  // a filled cell keeps a little weight
    inputs.options.frozen_heads.clear();  // no mask reaches what a frozen head keeps
    inputs.tensors.frozen_weights = nullptr;
    const bool sdpa = inputs.options.op == Op::scaled_dot_product_attention;
    const AttentionSizes sizes = attention_sizes(inputs);
    Tensor padding(Shape{{"N", sizes.batch}, {"S", sizes.keys}}, DType::boolean);
    padding.set_flat(sizes.past + 1, 1.0);
    padding.set_flat(sizes.keys + sizes.past + 2, 1.0);
    inputs.tensors.key_padding_mask = kept(padding);
    AttentionInputs other = inputs;
    for (TensorPtr TraceTensors::*member : {&TraceTensors::key, &TraceTensors::value}) {
      if (!(inputs.tensors.*member)) continue;  // latents have no value
      Tensor changed = *(inputs.tensors.*member);
      for (Index i = 0; i < changed.size(); ++i) {
        const auto index = changed.shape().index_of(i);
        const Index key = index[sdpa ? 2 : 1];
        if ((index[0] == 0 && key == 1) || (index[0] == 1 && key == 2))
          changed.set_flat(i, 1e6 * changed.flat(i));
      }
      other.tensors.*member = kept(changed);
    }
    const TracePtr before = run(inputs), after = run(other);
    for (const TensorEntry& entry : tensor_entries()) {
      // What is made of the keys alone changes, and so does dO·vᵀ, before the softmax weighs it with 0.
      const bool of_keys =
          entry.id >= TensorId::k && entry.id <= TensorId::scaled_scores && entry.id != TensorId::q_heads;
      const bool weighed = entry.id != TensorId::attn_weights && entry.id != TensorId::dropped_weights;
      const TensorName gradient{entry.id, true};
      if (entry.role == TensorRole::intermediate && !of_keys)
        check_same(std::string(entry.name), after->tensor(entry.id), before->tensor(entry.id), name);
      if (weighed) check_same(to_string(gradient), after->tensor(gradient), before->tensor(gradient), name);
    }
    ++looked_at;
  }
  CHECK(looked_at > 10);
}

TEST_CASE("grouped heads equal repeated heads, and their gradients are the sums over the group") {
  for (const Index kv_heads : {1, 2}) {
    AttentionInputs grouped = random_inputs(small_options(4, kv_heads, 3), {2, 3, 5});
    grouped.options.op = Op::scaled_dot_product_attention;
    grouped.tensors = {};
    grouped.tensors.query = random_tensor({{"N", 2}, {"H", 4}, {"L", 3}, {"D", 3}}, "query");
    grouped.tensors.key = random_tensor({{"N", 2}, {"G", kv_heads}, {"S", 5}, {"D", 3}}, "key");
    grouped.tensors.value = random_tensor({{"N", 2}, {"G", kv_heads}, {"S", 5}, {"Dv", 2}}, "value");
    AttentionInputs repeated = grouped;
    repeated.tensors.key = kept(repeat_kv(*grouped.tensors.key, 4));
    repeated.tensors.value = kept(repeat_kv(*grouped.tensors.value, 4));
    const TracePtr few = run(grouped), all = run(repeated);
    check_same("output", few->tensors.output, all->tensors.output, "grouped");
    check_same("grad.q_heads", few->grad.q_heads, all->grad.q_heads, "grouped");
    for (TensorPtr TraceTensors::*member : {&TraceTensors::k_heads, &TraceTensors::v_heads}) {
      Tensor sum(((few->grad).*member)->shape(), DType::f64);
      const Tensor& of_all = *((all->grad).*member);
      for (Index i = 0; i < of_all.size(); ++i) {
        auto index = of_all.shape().index_of(i);
        index[1] /= 4 / kv_heads;  // neighbouring query heads share
        const Index at = sum.shape().offset(index);
        sum.set_flat(at, sum.flat(at) + of_all.flat(i));
      }
      check_same("a gradient of the shared heads", (few->grad).*member, kept(sum), "grouped");
    }
  }
}

TEST_CASE("the head output is linear in v: that of a sum is the sum of those of its terms") {
  for (std::uint64_t seed = 0; seed < combinations; ++seed) {
    auto [name, inputs] = random_combination(seed);
    if (!has_own_keys(inputs) || !inputs.tensors.value || inputs.tensors.bias_v ||
        inputs.tensors.in_proj_bias || inputs.tensors.past_value)
      continue;
    const TensorPtr first = inputs.tensors.value, second = random_tensor(first->shape(), "second value");
    Tensor both = *first;
    for (Index i = 0; i < both.size(); ++i) both.set_flat(i, 2.0 * first->flat(i) - 3.0 * second->flat(i));
    const auto head_output = [&inputs = inputs](const TensorPtr& value) {
      inputs.tensors.value = value;
      return reference_forward(inputs)->tensors.head_output;
    };
    const TensorPtr of_first = head_output(first), of_second = head_output(second);
    Tensor sum = *of_first;
    for (Index i = 0; i < sum.size(); ++i)
      sum.set_flat(i, 2.0 * of_first->flat(i) - 3.0 * of_second->flat(i));
    check_same("head_output", head_output(kept(both)), kept(sum), name);
  }
}

TEST_CASE(
    "keys in another order, with their masks, change no output; their gradients change places with them") {
  for (std::uint64_t seed = 0; seed < combinations; ++seed) {
    auto [name, inputs] = random_combination(seed);
    const AttentionSizes sizes = attention_sizes(inputs);
    const bool short_mask = inputs.tensors.attn_mask &&
                            inputs.tensors.attn_mask->shape().sizes().back() < sizes.keys &&
                            inputs.tensors.attn_mask->shape().sizes().back() > 1;
    if (!has_own_keys(inputs) || depends_on_position(inputs.options) || inputs.tensors.valid_lens ||
        inputs.tensors.nonpad_kv_seqlen || short_mask)
      continue;
    const std::vector<Index> order{2, 0, 3, 1};
    const std::size_t key_axis = projects(inputs.options.op) ? 1 : 2;
    AttentionInputs turned = inputs;
    TraceTensors& t = turned.tensors;
    t.key = permuted(t.key, key_axis, order);
    t.value = permuted(t.value, key_axis, order);
    std::vector<Index> all_keys;  // those of a past and appended ones stay where they are
    while (static_cast<Index>(all_keys.size()) < sizes.past)
      all_keys.push_back(static_cast<Index>(all_keys.size()));
    for (const Index key : order) all_keys.push_back(sizes.past + key);
    t.key_padding_mask = permuted(t.key_padding_mask, 1, all_keys);
    if (t.attn_mask)
      t.attn_mask = permuted(t.attn_mask, static_cast<std::size_t>(t.attn_mask->shape().rank() - 1), all_keys);
    while (static_cast<Index>(all_keys.size()) < sizes.all_keys)
      all_keys.push_back(static_cast<Index>(all_keys.size()));
    t.frozen_weights = permuted(t.frozen_weights, 3, all_keys);
    const TracePtr before = run(inputs), after = run(turned);
    check_same("output", output_of_symmetry(*after), output_of_symmetry(*before), name);
    check_same("grad.q_heads", after->grad.q_heads, before->grad.q_heads, name);
    check_same("grad.in_proj_weight", after->grad.in_proj_weight, before->grad.in_proj_weight, name);
    check_same("grad.bias_k", after->grad.bias_k, before->grad.bias_k, name);
    check_same("grad.key", after->grad.key, permuted(before->grad.key, key_axis, order), name);
    check_same("grad.value", after->grad.value, permuted(before->grad.value, key_axis, order), name);
  }
}

TEST_CASE("queries in another order, with their masks, give the same outputs in that order") {
  for (std::uint64_t seed = 0; seed < combinations; ++seed) {
    auto [name, inputs] = random_combination(seed);
    const bool by_query = inputs.tensors.valid_lens && inputs.tensors.valid_lens->shape().rank() == 2;
    if (!has_own_keys(inputs) || depends_on_position(inputs.options) || by_query) continue;
    const std::vector<Index> order{1, 2, 0};
    const std::size_t axis = projects(inputs.options.op) ? 1 : 2;
    AttentionInputs turned = inputs;
    TensorPtr& mask = turned.tensors.attn_mask;
    turned.tensors.query = permuted(inputs.tensors.query, axis, order);
    if (mask) mask = permuted(mask, static_cast<std::size_t>(mask->shape().rank() - 2), order);
    turned.tensors.frozen_weights = permuted(inputs.tensors.frozen_weights, 2, order);
    const TracePtr before = reference_forward(inputs), after = reference_forward(turned);
    check_same("output", output_of_symmetry(*after), permuted(output_of_symmetry(*before), axis, order), name);
    check_same("attn_weights", after->tensors.attn_weights, permuted(before->tensors.attn_weights, 2, order),
               name);
  }
}

TEST_CASE("what one batch holds changes nothing in another") {
  Index changed_themselves = 0;
  for (std::uint64_t seed = 0; seed < combinations; ++seed) {
    auto [name, inputs] = random_combination(seed);
    AttentionInputs other = inputs;
    for (TensorPtr TraceTensors::*member : {&TraceTensors::query, &TraceTensors::key, &TraceTensors::value}) {
      if (!(inputs.tensors.*member)) continue;
      Tensor changed = *(inputs.tensors.*member);
      for (Index i = changed.size() / 2; i < changed.size(); ++i) changed.set_flat(i, 3.0 - changed.flat(i));
      other.tensors.*member = kept(changed);
    }
    if (inputs.tensors.key == inputs.tensors.query) {
      other.tensors.key = other.tensors.query;
      if (inputs.tensors.value) other.tensors.value = other.tensors.query;
    }
    const TracePtr before = run(inputs), after = run(other);
    const auto first_batch = [](const TensorPtr& x) -> TensorPtr {
      if (!x) return nullptr;
      Tensor out = *x;
      for (Index i = out.size() / 2; i < out.size(); ++i) out.set_flat(i, 0.0);
      return kept(std::move(out));
    };
    check_same("output", first_batch(output_of_symmetry(*after)), first_batch(output_of_symmetry(*before)),
               name);
    check_same("grad.q_heads", first_batch(after->grad.q_heads), first_batch(before->grad.q_heads), name);
    check_same("grad.k_heads", first_batch(after->grad.k_heads), first_batch(before->grad.k_heads), name);
    changed_themselves +=
        first_difference("output", *output_of_symmetry(*after), *output_of_symmetry(*before), 1e-6) ? 1 : 0;
  }
  CHECK(changed_themselves > 30);  // not where dropout or a mask takes everything
}

TEST_CASE(
    "heads in another order, with the columns of out_proj.weight that read them, give the same output") {
  const Index head_width = 3;
  const std::vector<Index> order{2, 0, 3, 1};
  const auto moved_head = [&](Index row) {
    return order[static_cast<std::size_t>(row / head_width % 4)] * head_width + row % head_width +
           row / 12 * 12;
  };
  AttentionInputs inputs = random_inputs(small_options(4, 4, head_width));
  AttentionInputs turned = inputs;
  TraceTensors& t = turned.tensors;
  t.in_proj_weight =
      gathered(t.in_proj_weight, [&](std::vector<Index>& index) { index[0] = moved_head(index[0]); });
  t.in_proj_bias =
      gathered(t.in_proj_bias, [&](std::vector<Index>& index) { index[0] = moved_head(index[0]); });
  t.out_proj_weight =
      gathered(t.out_proj_weight, [&](std::vector<Index>& index) { index[1] = moved_head(index[1]); });
  const TracePtr before = run(inputs), after = run(turned);
  check_same("output", after->tensors.output, before->tensors.output, "heads");
  check_same("attn_output_weights", after->tensors.attn_output_weights, before->tensors.attn_output_weights,
             "heads");
  check_same("attn_weights", after->tensors.attn_weights, permuted(before->tensors.attn_weights, 1, order),
             "heads");
  check_same("grad.query", after->grad.query, before->grad.query, "heads");
  check_same("grad.in_proj_weight", after->grad.in_proj_weight,
             gathered(before->grad.in_proj_weight, [&](auto& index) { index[0] = moved_head(index[0]); }),
             "heads");
}

TEST_CASE("a number added to all scores of a query changes nothing") {
  for (const double shift : {-700.0, 3.0, 1e4}) {
    AttentionInputs inputs = random_inputs(small_options());
    inputs.tensors.attn_mask = random_tensor({{"L", 4}, {"S", 6}}, "attn_mask");
    Tensor shifted = *inputs.tensors.attn_mask;
    for (Index i = 0; i < shifted.size(); ++i)
      shifted.set_flat(i, shifted.flat(i) + shift * static_cast<double>(i / 6));
    AttentionInputs other = inputs;
    other.tensors.attn_mask = kept(shifted);
    const TracePtr before = run(inputs), after = run(other);
    const double rounded_scores = 1e-16 * 3.0 * std::abs(shift) * 10.0 + symmetry_rounding;
    CHECK_FALSE(first_difference("attn_weights", *after->tensors.attn_weights, *before->tensors.attn_weights,
                                 rounded_scores));
    CHECK_FALSE(first_difference("grad.query", *after->grad.query, *before->grad.query, rounded_scores, 0.1));
  }
}

TEST_CASE("the gradient of a float mask sums to zero over the keys of a query") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.tensors.attn_mask = random_tensor({{"L", 4}, {"S", 6}}, "attn_mask");
  const TensorPtr gradient = run(inputs)->grad.attn_mask;
  for (Index l = 0; l < 4; ++l) {
    double sum = 0.0, largest = 0.0;
    for (Index s = 0; s < 6; ++s) {
      sum += gradient->at({l, s});
      largest = std::max(largest, std::abs(gradient->at({l, s})));
    }
    CHECK(std::abs(sum) < 1e-13);
    CHECK(largest > 1e-3);
  }
}
