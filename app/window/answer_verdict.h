// How the answer given to a page's question compares with its key, in words.
#pragma once

#include <string>
#include <vector>

#include "app/widgets/button.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// What stands in the controls of a page's question, and where: buttons, a field, and words between them.

// In a hall, controls and verdict have the type of the page's words: this many design units high. 0: not in a hall.
using HallUnits = float;

inline constexpr const char* answer_hint = "show the answer";
inline constexpr const char* unreadable_number = "type a number, such as 0.5, 1/8 or 50 %";
inline constexpr const char* unreadable_shape = "type sizes, such as 2, 3, 5 or N L E";

// One of the controls, or words between them.
enum class PieceKind { option, head, give, scale, field, note, error, show };
struct Piece {
  PieceKind kind;
  std::string text;
  Index index = 0;  // of the option, or of the head
  ButtonShape shape = {};
  bool own_line = false;
  ImVec2 at = {};  // from the first one
};
bool is_button(PieceKind kind);

// In the order of reading, not yet placed.
std::vector<Piece> listed_pieces(const PlaylistWalk& walk);

// Side by side, in as many lines as they need; the options of a hall that do not fit on one line in a column. `height` gets
// what they take.
std::vector<Piece> placed_pieces(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                                 HallUnits hall, float& height);

// The type of a button, and the font of a field, which is drawn at its own size.
Type control_type(const Fonts& fonts, float scale, HallUnits hall, const std::string& text);
ImFont* field_font(const Fonts& fonts, HallUnits hall);

// With the key on the screen: "You said 0.4; it is 0.901: 0.501 too low." If no answer was given, what is right.
std::string answer_verdict(const PlaylistWalk& walk);

// "It is 0.901 of 1.", "The right head is 7." Empty if the page takes no answer, or is changed so that none is right.
std::string right_answer(const PlaylistWalk& walk);

// Of an option of a choice, given or not.
std::string choice_verdict(const PageWords& words, std::size_t given);

}  // namespace headwise
