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

}  // namespace headwise
