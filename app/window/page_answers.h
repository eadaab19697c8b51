// The answer to a page's question: options to choose from or a field for a number, and, once it is given, how
// it compares with the key.
#pragma once

#include <imgui.h>

#include <array>
#include <string>

#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/widgets/text_layout.h"
#include "app/window/answer_kinds.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// In a hall, controls and verdict have the type of the page's words: this many design units high. 0:
// not in a hall.
using PresentationUnits = float;

// Of the controls while the page asks and of its longest verdict; 0 if the page takes no answer. In pixels.
float answer_controls_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                             PresentationUnits presentation = 0);
float answer_verdict_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk);

// While the page asks. An answer given is kept in walk.given, and action.answers. Controls that have no room
// side by side stand one below the other.
void draw_answer_controls(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action,
                          PresentationUnits presentation = 0);
// Once it has: the verdict, with a link to the page that goes into what was wrong.
void draw_answer_verdict(const PanelContext& context, const PlaylistWalk& walk, float wrap, Rgba8 ink,
                         PanelAction& action, PresentationUnits presentation = 0);

// "answer again", which ends at `end`: takes back an answer that was given or shown. Returns its width; 0
// where there is none.
float draw_take_back_link(const WidgetContext& widgets, const PlaylistWalk& walk, ImVec2 end,
                          PanelAction& action);

// The head that was clicked, which may be the one that is shown: true if the page asked for a head.
bool answer_by_head(WindowState& window, Index head);
// A cell, head or tensor that a panel asks to look at: true if it is the answer that the page asked for.
bool answer_by_pointing(WindowState& window, const Selection& wanted);
// A digit chooses an option, or is a head, or begins to type a number; true if the page takes the key.
bool answer_by_key(WindowState& window, KeyChord chord);
// The same for what is typed in this frame and is no key of its own, such as the bracket of a shape.
void answer_by_character(WindowState& window);

// How large a page's words are in a hall: as large as their column allows.

// Between the words of a page, in design units: below its title and its question, and for a line on how the
// stage differs.
inline constexpr float below_title = 6, below_question = 6, restore_height = 34;

// The type of a page's words in a hall, in design units.
struct PresentationType {
  float words = 15, title = 20;
};
// From the largest. Titles are larger than words.
inline constexpr std::array<PresentationType, 6> presentation_types{
    {{30, 34}, {27, 32}, {24, 28}, {21, 25}, {18, 20}, {15, 20}}};
// What the words that are shown take in a column `width` pixels wide; and whether all of them have the
// letters for this type and no word is wider than the column.
float presentation_words_height(const Fonts& fonts, float scale, float width, const PresentationType& type,
                                const PlaylistWalk& walk);
bool presentation_type_suits(const Fonts& fonts, float scale, float width, const PresentationType& type,
                             const PlaylistWalk& walk);
// The largest that suits and fits the height.
PresentationType presentation_type(const Fonts& fonts, float scale, float width, float height,
                                   const PlaylistWalk& walk);

// A title's: bold, unless its letters are to be had larger without.
Type heading_type(const Fonts& fonts, float scale, const PresentationType& type, const std::string& title);

}  // namespace headwise
