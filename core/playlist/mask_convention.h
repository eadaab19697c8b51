// How masks are displayed: as the bias added to the scores, or as booleans of either convention.
#pragma once

#include <array>
#include <string_view>

namespace headwise {

enum class MaskConvention {
  added,        // 0 and −∞, or floats
  true_blocks,  // torch.nn.MultiheadAttention: True is blocked
  true_keeps,   // F.scaled_dot_product_attention, ONNX, Keras, Flax: True takes part
};

// In the order of MaskConvention, as a playlist names them.
inline constexpr std::array<std::string_view, 3> mask_convention_words{"added", "true_blocks", "true_keeps"};

}  // namespace headwise
