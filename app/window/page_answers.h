// The answer to a page's question: options to choose from or a field for a number, and, once it is given, how
// it compares with the key.
#pragma once

#include <string>

#include <imgui.h>

#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/window/answer_kinds.h"

namespace headwise {

// In a hall, controls and verdict have the type of the page's words: this many design units high. 0:
// not in a hall.
using HallUnits = float;

// Of the controls while the page asks and of its longest verdict; 0 if the page takes no answer. In pixels.
float answer_controls_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                             HallUnits hall = 0);
float answer_verdict_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk);
// Of what is shown now, in a hall: the controls, or the verdict of the answer that was given; and all that it
// says, to know which letters it needs.
float answer_height_now(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk, HallUnits hall);
std::string answer_words_now(const PlaylistWalk& walk);

// While the page asks. An answer given is kept in walk.given, and action.answers. Controls that have no room
// side by side stand one below the other.
void draw_answer_controls(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action,
                          HallUnits hall = 0);
// Once it has: the verdict, with a link to the page that goes into what was wrong.
void draw_answer_verdict(const PanelContext& context, const PlaylistWalk& walk, float wrap, Rgba8 ink,
                         PanelAction& action, HallUnits hall = 0);

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

}  // namespace headwise
