#include "core/trace/rotary_variants.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/attention/rotary_embedding.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

// Where a head's columns 2j and 2j + 1 come to stand at j and j + R/2: entry d is the column that d is taken from.
std::vector<Index> neighbours_as_halves(Index pairs, Index width) {
  std::vector<Index> order;
  for (Index part = 0; part < 2; ++part)
    for (Index j = 0; j < pairs; ++j) order.push_back(2 * j + part);
  for (Index d = 2 * pairs; d < width; ++d) order.push_back(d);
  return order;
}

// Blocks of `order.size()` numbers, each `inner` cells long, from the beginning on; what stands behind `blocks` of them stays.
TensorPtr reordered(const Tensor& tensor, const std::vector<Index>& order, Index blocks, Index inner) {
  Tensor result = tensor;
  const auto width = static_cast<Index>(order.size());
  for (Index block = 0; block < blocks; ++block) {
    for (Index d = 0; d < width; ++d) {
      const Index to = (block * width + d) * inner,
                  from = (block * width + order[static_cast<std::size_t>(d)]) * inner;
      for (Index i = 0; i < inner; ++i) result.set_flat(to + i, tensor.flat(from + i));
    }
  }
  return std::make_shared<const Tensor>(std::move(result));
}

// Columns 2j and 2j + 1 of each head turned together, as RoFormer and the files of Meta's Llama have it: the half-split turn of
// the same columns in another order, whose products are the same.
InputVariant interleaved_pairs(const AttentionSizes& sizes, Index pairs) {
  const auto change = [sizes, order = neighbours_as_halves(pairs, sizes.head_dim)](AttentionInputs& other) {
    TraceTensors& t = other.tensors;
    const auto rows = [&](TensorPtr& tensor, Index heads) {
      if (tensor)
        tensor = reordered(*tensor, order, heads, tensor->shape().rank() > 1 ? tensor->shape().size(1) : 1);
    };
    if (other.options.op == Op::scaled_dot_product_attention) {
      for (TensorPtr* heads : {&t.query, &t.key})
        *heads = reordered(**heads, order, (*heads)->size() / sizes.head_dim, 1);
      return;
    }
    rows(t.in_proj_weight, sizes.heads + sizes.kv_heads);
    rows(t.in_proj_bias, sizes.heads + sizes.kv_heads);
    rows(t.q_proj_weight, sizes.heads);
    rows(t.k_proj_weight, sizes.kv_heads);
  };
  return {
      "rotary position embedding turns neighbouring columns (2j, 2j + 1) together, not halves (j, j + D/2)",
      "", change, true};
}

}  // namespace

std::vector<InputVariant> rotary_variants(const AttentionInputs& inputs) {
  const AttentionOptions o = resolved_options(inputs);
  const TraceTensors& t = inputs.tensors;
  std::vector<InputVariant> variants;
  const auto with_base = [](std::optional<double> base) {
    return [base](AttentionInputs& other) {
      other.options.rotary_base = base;
      other.options.rotary_inverse_frequencies.clear();
    };
  };
  if (has_rotary_embedding(o)) {
    variants.push_back({"q and k are not turned by their positions",
                        "--set attention.rotary_base=null --set attention.rotary_inverse_frequencies=null",
                        with_base(std::nullopt)});
    const auto pairs = static_cast<Index>(rotary_inverse_frequencies(o).size());
    if (pairs > 1) variants.push_back(interleaved_pairs(attention_sizes(inputs), pairs));
  }
  if (o.head_dim == 0 || o.head_dim % 2 != 0 || o.add_zero_attn || t.bias_k || t.static_k) return variants;
  for (const double base : {1e4, 5e5, 1e6}) {
    if (o.rotary_base == base) continue;
    const char* no_list =
        o.rotary_inverse_frequencies.empty() ? "" : " --set attention.rotary_inverse_frequencies=null";
    variants.push_back({fmt::format("q and k are turned by their positions (rotary, base {:g})", base),
                        fmt::format("--set attention.rotary_base={:.0f}{}", base, no_list), with_base(base)});
  }
  return variants;
}

}  // namespace headwise
