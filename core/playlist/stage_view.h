// Lists the views of the stage. app/content/stage_views.cpp describes each of them.
#pragma once

#include <array>
#include <string_view>

namespace headwise {

enum class StageView {
  one_head,         // the step's product or map, with its operands
  all_heads,        // its result at every head
  head_rows,        // one query's row in every head, beside the prediction
  tokens,           // the tokens, joined by their attention
  elementwise,      // one query against every key, number by number
  query_key_plane,  // one head's queries and keys as arrows and points of a plane
  gradients,        // the step's tensors, each with its gradient
  compare,          // its result compared with that of another scenario, and their difference
  memory,           // where each float is after view and transpose
  prediction,       // the tokens that the model predicts, with the layer untouched and as it is
};

inline constexpr int stage_view_count = 10;
// Their names in playlists, in the order of StageView.
inline constexpr std::array<std::string_view, stage_view_count> stage_view_words{
    "one_head",        "all_heads", "head_rows", "tokens", "elementwise",
    "query_key_plane", "gradients", "compare",   "memory", "prediction"};

// How masks are displayed: as the bias added to the scores, or as booleans of either convention.

enum class MaskConvention {
  added,        // 0 and −∞, or floats
  true_blocks,  // torch.nn.MultiheadAttention: True is blocked
  true_keeps,   // F.scaled_dot_product_attention, ONNX, Keras, Flax: True takes part
};

// In the order of MaskConvention, as a playlist names them.
inline constexpr std::array<std::string_view, 3> mask_convention_words{"added", "true_blocks", "true_keeps"};

// What the view Compare can compare the current scenario with.

enum class CompareWith {
  pinned,         // the scenario as it was when pinned
  one_wide_head,  // the same parameters read as one head
  packed,         // in_proj stored as one matrix,
  separate,       // as three
  per_head,       // or as a small one per head
  scale,          // without the scale; with 1/√D if there is none
  mask,           // without any mask; with the causal one if there is none
};

inline constexpr int compare_with_count = 7;
// In the order of CompareWith: short names for lists.
inline constexpr std::array<std::string_view, compare_with_count> compare_with_names{
    "pinned", "one wide head", "packed", "3", "3·H", "scale", "mask"};

}  // namespace headwise
