#include "app/window/answer_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/session/commands.h"
#include "core/trace/tensor_names.h"

namespace headwise {
namespace {

// Design units; a button is as high and as wide as app/widgets/button.h makes it.
constexpr float piece_height = 26, between_pieces = 6, typed_width = 120, note_air = 13, field_air = 14;
constexpr float usual_number = 15;  // the type of a field that is typed_width wide
constexpr Index most_head_buttons = 64;

}  // namespace

bool is_button(PieceKind kind) {
  return kind != PieceKind::field && kind != PieceKind::note && kind != PieceKind::error;
}

std::vector<Piece> listed_pieces(const PlaylistWalk& walk) {
  std::vector<Piece> pieces;
  const PageAnswer& answer = *walk.shown()->answer;
  const auto add = [&](PieceKind kind, std::string text, Index index = 0) {
    pieces.push_back({kind, std::move(text), index});
  };
  switch (answer.kind) {
    case AnswerKind::choice:
    case AnswerKind::tensor:
      for (std::size_t i = 0; i < walk.words.options.size(); ++i)
        add(PieceKind::option, fmt::format("{}   {}", i + 1, walk.words.options[i]), static_cast<Index>(i));
      if (answer.kind == AnswerKind::tensor) add(PieceKind::note, "or click it on the stage");
      break;
    case AnswerKind::head: {
      const Index heads = walk.words.trace ? walk.words.trace->options.num_heads : 0;
      for (Index head = 0; head < std::min(heads, most_head_buttons); ++head)
        add(PieceKind::head, std::to_string(head), head);
      add(PieceKind::note, "or click one on the stage");
      break;
    }
    case AnswerKind::cell:
      add(PieceKind::note, fmt::format("click a cell of {}; by keys: Enter, the arrows, Enter",
                                       tensor_entry(*answer.tensor).name));
      break;
    case AnswerKind::weights:
      add(PieceKind::give, "answer");
      add(PieceKind::scale, "scale to 1");
      break;
    case AnswerKind::mask:
      add(PieceKind::give, "answer");
      add(PieceKind::note,
          fmt::format(
              "paint the blocked pairs on the map, then answer ({}); by keys: Enter, the arrows, Enter",
              first_key_text(CommandId::next_page)));
      break;
    case AnswerKind::number:
    case AnswerKind::shape:
      add(PieceKind::field, "");
      if (!answer.unit.empty()) add(PieceKind::note, answer.unit);
      add(PieceKind::give, "answer");
      if (walk.given.unreadable)
        add(PieceKind::error, answer.kind == AnswerKind::shape ? unreadable_shape : unreadable_number);
      break;
  }
  add(PieceKind::show, answer_hint);
  return pieces;
}

Type control_type(const Fonts& fonts, float scale, HallUnits hall, const std::string& text) {
  return hall > 0 ? type_at(fonts, scale, hall, text) : own_size(fonts.small);
}

ImFont* field_font(const Fonts& fonts, HallUnits hall) {
  return hall >= 24 ? fonts.formula : hall >= 18 ? fonts.caption : fonts.sans;
}

namespace {

ImVec2 piece_size(const Fonts& fonts, float scale, float wrap, HallUnits hall, const Piece& piece) {
  if (is_button(piece.kind)) return piece.shape.size;
  if (piece.kind == PieceKind::field) {
    ImFont* font = field_font(fonts, hall);
    const float width = std::round(typed_width * std::max(1.0f, hall / usual_number) * scale);
    return {std::min(width, wrap),
            std::round(hall > 0 ? font->FontSize + field_air * scale : piece_height * scale)};
  }
  const ImVec2 text = size_in(piece.shape.type, wrap, piece.text);
  return {std::ceil(text.x), std::round(text.y + note_air * scale)};
}

}  // namespace

std::vector<Piece> placed_pieces(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                                 HallUnits hall, float& height) {
  std::vector<Piece> pieces = listed_pieces(walk);
  const float gap = std::round(between_pieces * scale);
  float in_one_line = -gap;
  for (Piece& piece : pieces) {
    const Type type = control_type(fonts, scale, hall, piece.text);
    if (is_button(piece.kind))
      piece.shape = button_shape(scale, type, wrap, piece.text);
    else
      piece.shape = {type, {}};
    piece.shape.size = piece_size(fonts, scale, wrap, hall, piece);
    if (piece.kind == PieceKind::option) in_one_line += piece.shape.size.x + gap;
  }
  ImVec2 at{0, 0};
  float line = 0.0f;
  const auto next_line = [&] {
    if (at.x > 0) at = {0, at.y + line + gap};
    line = 0.0f;
  };
  for (Piece& piece : pieces) {
    piece.own_line = hall > 0 && piece.kind == PieceKind::option && in_one_line > wrap;
    if (piece.own_line) piece.shape.size.x = std::floor(wrap);
    if (piece.own_line || at.x + piece.shape.size.x > wrap) next_line();
    piece.at = at;
    at.x += piece.shape.size.x + gap;
    line = std::max(line, piece.shape.size.y);
    if (piece.own_line) next_line();
  }
  next_line();
  height = at.y;
  return pieces;
}

}  // namespace headwise
