// Lists the views of the stage. What the window says of each is a row of app/content/stage_views.cpp.
#pragma once

#include <array>
#include <string_view>

namespace headwise {

enum class StageView {
  one_head,     // the step's product or map, with its operands
  all_heads,    // its result at every head
  tokens,       // the tokens, joined by their attention
  elementwise,  // one query against every key, number by number
  gradients,    // the step's tensors, each beside its gradient
  compare,      // its result beside that of another scenario, and their difference
  memory,       // which float lies where after view and transpose
  prediction,   // the words that the model says, with the layer untouched and as it is
};

inline constexpr int stage_view_count = 8;
// The words that a playlist has for them, in the order of StageView.
inline constexpr std::array<std::string_view, stage_view_count> stage_view_words{
    "one_head", "all_heads", "tokens", "elementwise", "gradients", "compare", "memory", "prediction"};

}  // namespace headwise
