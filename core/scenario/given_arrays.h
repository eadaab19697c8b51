// Arrays from outside: what they say about the sizes, and their way from PyTorch's layouts into those of the
// trace.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/attention/attention_options.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// The names that are taken, in the order of the operator; everything else is left alone.
std::span<const std::string_view> given_array_names();

// A size that an array has, and the array that has it: "query (2,4,16)".
struct SizeFact {
  Index size = 0;
  std::string source;
};

// What the arrays say. `mask_…` are the sizes that only masks tell: they count where nothing else says them.
struct GivenSizes {
  bool unbatched = false;
  std::optional<SizeFact> batch, query_length, key_length, embed_dim, kdim, vdim;
  std::optional<Index> static_key_length;  // S of static_k and static_v; key and value may have another
  std::optional<SizeFact> num_heads, num_kv_heads, head_dim, v_head_dim;  // scaled_dot_product_attention only
  std::optional<SizeFact> mask_batch, mask_query_length, mask_key_length;
};

// Throws Error(input) where an array has a rank or a type that its name never has, or where two arrays
// disagree.
GivenSizes given_sizes(const GivenArrays& given, Op op, bool batch_first);

// The array as it stands in a trace: batch first, with its N axis, bias_k flat, static_k with heads apart; floats in
// `dtype`, but frozen_weights as they are (in f64 freezing a head changes no bit of an f32 trace). `batch` is N. Throws
// Error(input) where its shape cannot become that. Adds a note where numbers beyond f32 became infinite.
Tensor given_tensor(const std::string& name, const Tensor& array, const AttentionOptions& options,
                    Index batch, bool batch_first, DType dtype, std::vector<std::string>& notes);

}  // namespace headwise
