// The words of a page and its controls, one below the other.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "app/lesson/page_place.h"
#include "app/lesson/playlist_walk.h"
#include "app/panels/panel.h"
#include "app/widgets/controls.h"

namespace headwise {

// How large a page's words are in a hall, in design units: as large as their column allows.
struct PresentationType {
  float words = 15, title = 20;
};
// From the largest. Titles are larger than words.
inline constexpr std::array<PresentationType, 6> presentation_types{
    {{30, 34}, {27, 32}, {24, 28}, {21, 25}, {18, 20}, {15, 20}}};

// Between the words of a page, in design units: below its title and its question, and for a line on how the
// stage differs.
inline constexpr float below_title = 6, below_question = 6, restore_height = 34;

// What the pieces of a flow are drawn for.
struct PageDrawing {
  const PanelContext& context;
  PlaylistWalk& walk;
  PanelAction& action;
};

// What is put into a flow is drawn, from the cursor of the ImGui window on; without a drawing it only takes
// its room, so that each piece of a page is measured by what draws it.
struct PageFlow {
  const Fonts& fonts;
  float scale = 1.0f;
  float wrap = 0.0f;                       // pixels
  const PresentationType* hall = nullptr;  // its type; null: not in a hall
  const PageDrawing* drawing = nullptr;
  float height = 0.0f;  // pixels so far
  float below = 0.0f;   // and before the next piece: ImGui's own spacing

  float px(float units) const { return units * scale; }
  // Of the page's words and its controls, which have one size in a hall.
  Type type(ImFont* usual, const std::string& text) const;

  // A piece of this height, which was drawn.
  void count(float high);
  // A piece that was drawn without moving the cursor.
  void take(float high);
  // As much more than ImGui's spacing.
  void gap(float units);
  // Room that is only kept: the flow is at least, or by so much, higher than what is drawn.
  void keep(float to) { height = std::max(height + std::exchange(below, 0.0f), to); }
  void keep_more(float by) { keep(height + below + by); }

  void text(const Type& words_type, Rgba8 Palette::*ink, const std::string& words);
};

// The title of a page, its question, and what answers it, as one of these has it.
enum class PageMoment {
  asks,
  answered,
  left,  // the stage shows something else, of which the page does not speak
};
// `width`: of the column, with the chart that may stand beside the words.
void put_page_words(PageFlow& flow, const PlaylistWalk& walk, float width, double window_height,
                    PageMoment moment);
void put_difference(PageFlow& flow, const Type& type, const StageDifference& difference);

// Whether the words that are shown fit a column of a hall of so many pixels in this type, have the letters
// for it, and no word is wider than the column.
bool presentation_type_fits(const Fonts& fonts, float scale, ImVec2 room, const PresentationType& type,
                            const PlaylistWalk& walk);
// The largest that fits.
PresentationType presentation_type(const Fonts& fonts, float scale, ImVec2 room, const PlaylistWalk& walk);

}  // namespace headwise
