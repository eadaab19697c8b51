// What the view Compare can compare the current scenario with.
#pragma once

#include <array>
#include <string_view>

namespace headwise {

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
