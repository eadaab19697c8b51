// Arrays from outside: what they say about the sizes, and their conversion from PyTorch's layouts to those of
// the trace.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/attention/attention_options.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// The names that are read, in the order of the operator; all others are ignored.
std::span<const std::string_view> given_array_names();

// Throws Error(input) if something in the file that cannot be read has one of these names and is not given
// otherwise: it would be missed. What has another name is left out.
void require_readable_names(const ArrayFile& file, std::span<const std::string_view> names,
                            const GivenArrays& given = {});

// Throws Error(input): an array has a number of axes that its name never has.
[[noreturn]] void refuse_rank(const std::string& name, const Shape& shape, const std::string& expected,
                              const std::string& remedy = "");

// A size of an array, and the array that has it: "query (2,4,16)".
struct SizeFact {
  Index size = 0;
  std::string source;
};

// What the arrays say. `mask_…` are sizes given by masks only: they count if nothing else gives them.
struct GivenSizes {
  bool unbatched = false;
  std::optional<SizeFact> batch, query_length, key_length, past_length, embed_dim, kdim, vdim;
  std::optional<Index> static_key_length;  // S of static_k and static_v; key and value may differ
  std::optional<SizeFact> num_heads, num_kv_heads, head_dim, v_head_dim;  // scaled_dot_product_attention only
  std::optional<SizeFact> mask_batch, mask_query_length, mask_key_length;
};

// Throws Error(input) if an array has a rank or a type that its name never has, or if two arrays disagree,
// with what the scenario says about the size.
GivenSizes given_sizes(const GivenArrays& given, const Scenario& scenario);

// The array as stored in a trace: batch first, with its N axis, bias_k flat, static_k with heads split;
// floats in `dtype`, except that frozen_weights keep their type (in f64 freezing a head changes no bit of an
// f32 trace). `batch` is N. An outline stays one. Throws Error(input) if its shape does not allow that. Adds
// a note if numbers beyond f32 became infinite.
Tensor given_tensor(const std::string& name, const Tensor& array, const AttentionOptions& options,
                    Index batch, bool batch_first, DType dtype, std::vector<std::string>& notes);

}  // namespace headwise
