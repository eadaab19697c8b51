#include "core/model/layers/layer_arrays.h"

#include <fmt/format.h>

#include "core/files/element_type.h"
#include "core/tensor/join.h"

namespace headwise {
std::vector<LayerArray> arrays_of_layer(const AttentionLayer& layer) {
  const ModelFamily& family = *layer.family;
  const Index E = layer.query_width, W = layer.key_width;
  const Index Q = layer.q_rows, K = layer.k_rows, V = layer.v_rows, R = layer.packed_rows;
  const bool transposed =
      layer.layout == AttentionLayout::packed_in || layer.layout == AttentionLayout::queries_in;
  std::vector<LayerArray> arrays;
  const auto add = [&](std::string_view stem, Index out, Index in) {
    const std::vector<Index> sizes = transposed ? std::vector{in, out} : std::vector{out, in};
    arrays.push_back({layer_array(layer, stem, "weight"), sizes});
    arrays.push_back({layer_array(layer, stem, "bias"), {out}, true});
  };
  if (!family.qkv.empty()) {
    add(family.qkv, R, E);
  } else {
    add(family.q, Q, E);
    if (family.kv.empty()) {
      add(family.k, K, W);
      add(family.v, V, W);
    } else {
      add(family.kv, K + V, W);
    }
    if (!family.joint_bias.empty())
      arrays.push_back({layer_array(layer, family.joint_bias, "bias"), {Q + K + V}, true});
  }
  if (layer.has_output)
    add(family.output, E, layer.num_heads ? V / *layer.num_kv_heads * *layer.num_heads : V);
  if (layer.has_bias_kv) {
    arrays.push_back({layer_array(layer, "bias_k", ""), {1, 1, K}});
    arrays.push_back({layer_array(layer, "bias_v", ""), {1, 1, V}});
  }
  return arrays;
}

std::string problem_of_types(const AttentionLayer& layer) {
  for (const auto& [name, info] : layer.arrays)
    if (!holds_floats(info.stored_dtype))
      return fmt::format("{} has numbers of type {}, not f16, bf16, f32 or f64", name, info.stored_dtype);
  return "";
}

std::string problem_of_sizes(const AttentionLayer& layer) {
  for (const LayerArray& array : arrays_of_layer(layer)) {
    const auto at = layer.arrays.find(array.name);
    if (at != layer.arrays.end() && at->second.sizes != array.sizes)
      return fmt::format("{} is ({}) instead of ({})", array.name, join(at->second.sizes, ","),
                         join(array.sizes, ","));
  }
  return "";
}

}  // namespace headwise
