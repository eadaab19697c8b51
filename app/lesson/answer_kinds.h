// The kinds of answers to a page's question, as the window asks for them: each a row of one table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/lesson/playlist_walk.h"
#include "app/panels/panel.h"
#include "app/widgets/controls.h"

namespace headwise {

inline constexpr const char* answer_hint = "show the answer";

// One of the controls of a page's question, or words between them.
enum class PieceKind { option, button, field, note, error, show };
struct Piece {
  PieceKind kind;
  std::string text, id = {};
  std::string tip = {};  // of a field, what stands in it while it is empty
  bool enabled = true;
  // What a press does, or Enter in a field.
  std::function<void(const PanelContext&, PlaylistWalk::Given&)> press = {};
  ButtonShape shape = {};
  bool own_line = false;
  ImVec2 at = {};  // from the first one
};

// A text of an answer, as whoever writes the page edits it.
struct EditedText {
  std::string PageAnswer::*text;
  const char* id;
  const char* placeholder;
  const char* explained;
  float share;             // of the line
  const char* first = "";  // with which it begins: {cell}, {name} … are those that the page is about
};

struct AnswerKindView {
  std::vector<Piece> (*controls)(const PlaylistWalk&);
  // On what was given, and whether it is right (core/lessons/given_answer.h)
  std::string (*verdict)(const PageAnswer&, const PageWords&, const PlaylistWalk::Given&, std::optional<bool>);
  // A key while the page asks; false if it is none of the answer's.
  bool (*digit)(PlaylistWalk&, int) = [](PlaylistWalk&, int) { return false; };
  // What a click on the stage gives, from what is selected to what it would select; a sentence where it gives
  // nothing and that has to be said.
  std::string (*click)(PlaylistWalk&, const Trace&, const Selection& now, const Selection& wanted) =
      [](PlaylistWalk&, const Trace&, const Selection&, const Selection&) { return std::string(); };
  // Whether what was drawn is an answer.
  bool (*drawn)(const PlaylistWalk&) = [](const PlaylistWalk&) { return false; };
  bool typed = false;                // digits, a point and a minus sign begin the answer
  std::string_view letters = {};     // and so do these, while the page asks
  std::string_view characters = {};  // and these, with whichever keys they are typed
  const char* right;                 // the verdict if nothing was given; {shown}: the key
  const char* longest = "";          // that there may be, unless one on an option is longer
  std::vector<EditedText> texts = {};
};
const AnswerKindView& view_of(const PageAnswer& answer);

// In the order of reading, not yet placed.
std::vector<Piece> listed_pieces(const PlaylistWalk& walk);

// With the key on the screen: "You said 0.4; it is 0.901: 0.501 too low." If no answer was given,
// what is right.
std::string answer_verdict(const PlaylistWalk& walk);

// "It is 0.901 of 1.", "The right head is 7." Empty if the page takes no answer,
// or is changed so that none is right.
std::string right_answer(const PlaylistWalk& walk);

// One of them may be the verdict; none is longer.
std::vector<std::string> longest_verdicts(const PlaylistWalk& walk);

// Of an option of a choice, given or not.
std::string choice_verdict(const PageWords& words, std::size_t given);

}  // namespace headwise
