// The arrays that a layer is computed from: declared once for who checks them and who reads them.
#pragma once

#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

struct LayerArray {
  std::string name;
  std::vector<Index> sizes;
  bool is_bias = false;  // may be absent
};

// Under their names in the file, with the sizes that the layer's numbers of rows and heads ask for.
std::vector<LayerArray> arrays_of_layer(const AttentionLayer& layer);

// The first of these that is there with other sizes, or whose numbers are not floating-point, a sentence;
// empty if all can be read. Sizes are only checked if the number of heads is known.
std::string problem_of_types(const AttentionLayer& layer);
std::string problem_of_sizes(const AttentionLayer& layer);

}  // namespace headwise
