// The row of weights that a page asks for, as bars: drawn with the mouse or the keys,
// then beside the right ones.
#pragma once

#include "app/panels/panel.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// What the words of the page leave to the chart: columns at their right, where they stay wide enough, or
// lines below them. In pixels; both are 0 where the page asks for no row of weights.
struct BarsRoom {
  float beside = 0.0f, below = 0.0f;
  float height = 0.0f;
};
BarsRoom answer_bars_room(float scale, float wrap, const PlaylistWalk& walk, bool presentation = false);

// What a chart beside the words leaves to them, in a panel `width` pixels wide.
float words_beside_bars(float scale, float width, const PlaylistWalk& walk);

// Fills the size at the cursor. While the page asks, the bars follow the mouse and the keys;
// Enter gives them.
void draw_answer_bars(const PanelContext& context, PlaylistWalk& walk, ImVec2 size, PanelAction& action);

// Bars whose sum is less than this beside 1 need not be scaled.
inline constexpr double nearly_one = 0.005;

}  // namespace headwise
