// What the view Compare can hold beside the present scenario.
#pragma once

#include <array>
#include <string_view>

namespace headwise {

enum class CompareWith {
  pinned,         // the scenario as it was when it was pinned
  one_wide_head,  // the same parameters read as one head
  packed,         // in_proj held as one matrix,
  separate,       // as three
  per_head,       // or as a small one for each head
  scale,          // without the scale; with 1/√D where there is none
  mask,           // without any mask; with the causal one where there is none
};

inline constexpr int compare_with_count = 7;
// In the order of CompareWith: words for lists, shorter than what stands over the stage.
inline constexpr std::array<std::string_view, compare_with_count> compare_with_names{
    "pinned", "one wide head", "packed", "3", "3·H", "scale", "mask"};

}  // namespace headwise
