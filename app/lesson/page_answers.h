// The answer to a page's question: options to choose from or a field for a number, and, once it is given, how
// it compares with the key.
#pragma once

#include <imgui.h>

#include <string>

#include "app/lesson/answer_kinds.h"
#include "app/lesson/page_flow.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "core/lessons/live_value.h"

namespace headwise {

// While the page asks. An answer given is kept in walk.given, which is then done. Controls that have no room
// side by side stand one below the other.
void put_answer_controls(PageFlow& flow, const PlaylistWalk& walk);
// Once it has: the verdict, with a link to the page that goes into what was wrong.
void put_answer_verdict(PageFlow& flow, const PlaylistWalk& walk, Rgba8 Palette::*ink);
// All that is said by what is shown of them, to know which letters it needs.
std::string answer_words_now(const PlaylistWalk& walk);

// The row of weights that a page asks for, as bars: drawn with the mouse or the keys,
// then beside the right ones.

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
void draw_answer_bars(const PanelContext& context, PlaylistWalk& walk, ImVec2 size);

// Bars whose sum is less than this beside 1 need not be scaled.
inline constexpr double nearly_one = 0.005;

// Where the words of a page are written: what its question is answered with.

// Edits the answer and the veil of the page that is shown, if it asks; true if something was changed. A kind
// that is chosen begins with a key from what the window shows: the pinned cell, the step's result.
bool put_answer_editor(PageFlow& flow, const PlaylistWalk& walk);

// Why the answer cannot stay as it is written, on the present trace and in this playlist; empty if it can.
std::string answer_problem(const Playlist& playlist, const PlaylistPage& page, const LiveSubject& subject);

// "answer again", which ends at `end`: takes back an answer that was given or shown. Returns its width; 0
// where there is none.
float draw_take_back_link(const WidgetContext& widgets, const PlaylistWalk& walk, ImVec2 end,
                          PanelAction& action);

}  // namespace headwise
