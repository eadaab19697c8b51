// Lists the views of the stage. app/content/stage_views.cpp describes each of them.
#pragma once

#include <array>
#include <optional>
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

// In the order of MaskConvention: as a playlist and the window name them.
inline constexpr std::array<std::string_view, 3> mask_convention_words{"added", "true_blocks", "true_keeps"};
inline constexpr std::array<std::string_view, 3> mask_convention_names{"0, −∞", "True blocks", "True keeps"};

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

// The lines of the view Tokens: the strongest, until they cover a share of what each query gives,
// or of what each key gets.

struct TokenLines {
  static constexpr std::array<double, 4> shares{0.5, 0.8, 0.95, 1.0};
  static constexpr std::array<std::string_view, 4> share_names{"50 %", "80 %", "95 %", "all"};
  // In the order of per_key, as the view and a playlist name them
  static constexpr std::array<std::string_view, 2> way_names{"query gives", "key gets"};
  static constexpr std::array<std::string_view, 2> way_words{"query", "key"};

  std::optional<int> share;  // which of the shares; none: the one suited to the number of tokens
  bool per_key = false;
  friend bool operator==(const TokenLines&, const TokenLines&) = default;
};

// The loss that gradients are taken of: a weighted sum of the last output.

enum class Loss {
  sum,         // Σ output: every weight is 1
  first_cell,  // the output's first number alone
  random,      // Σ ± output, with signs that are always the same
  given,       // Σ grad_output · output, with the grad_output of the inputs
};
// In the order of Loss: short names, and as a playlist names them.
inline constexpr std::array<std::string_view, 4> loss_names{"Σ output", "first cell", "random", "given"};
inline constexpr std::array<std::string_view, 4> loss_words{"sum", "first_cell", "random", "given"};

}  // namespace headwise
