// How large a page's words are in a hall: as large as their column allows.
#pragma once

#include <array>
#include <string>

#include "app/widgets/text_layout.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// Between the words of a page, in design units: below its title and its question, and for a line on how the
// stage differs.
inline constexpr float below_title = 6, below_question = 6, restore_height = 34;

// The type of a page's words in a hall, in design units.
struct HallType {
  float words = 15, title = 20;
};
// From the largest. Titles are larger than words.
inline constexpr std::array<HallType, 6> hall_types{
    {{30, 34}, {27, 32}, {24, 28}, {21, 25}, {18, 20}, {15, 20}}};
// What the words that are shown take in a column `width` pixels wide; and whether all of them have the
// letters for this type and no word is wider than the column.
float hall_words_height(const Fonts& fonts, float scale, float width, const HallType& type,
                        const PlaylistWalk& walk);
bool hall_type_suits(const Fonts& fonts, float scale, float width, const HallType& type,
                     const PlaylistWalk& walk);
// The largest that suits and fits the height.
HallType hall_type(const Fonts& fonts, float scale, float width, float height, const PlaylistWalk& walk);

// A title's: bold, unless its letters are to be had larger without.
Type heading_type(const Fonts& fonts, float scale, const HallType& type, const std::string& title);

}  // namespace headwise
