#include "app/lesson/page_answers.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/session/answer_check.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr float row_gap = 6;  // design units

ImFont* field_font(const PageFlow& flow) {
  const float units = flow.hall ? flow.hall->words : 0.0f;
  return units >= 24 ? flow.fonts.formula : units >= 18 ? flow.fonts.caption : flow.fonts.sans;
}

bool is_button(const Piece& piece) {
  return piece.kind == PieceKind::option || piece.kind == PieceKind::button || piece.kind == PieceKind::show;
}

// Design units; a button is as high and as wide as app/widgets/controls.h makes it.
constexpr float piece_height = 26, between_pieces = 6, typed_width = 120, least_typed = 70, note_air = 13,
                field_air = 14;
constexpr float usual_number = 15;  // the type of a field that is typed_width wide

ImVec2 piece_size(const PageFlow& flow, const Piece& piece) {
  if (is_button(piece)) return piece.shape.size;
  const float scale = flow.scale;
  if (piece.kind == PieceKind::field) {
    const float larger = flow.hall ? std::max(1.0f, flow.hall->words / usual_number) : 1.0f;
    return {std::min(std::round(typed_width * larger * scale), flow.wrap),
            std::round(flow.hall ? field_font(flow)->FontSize + field_air * scale : piece_height * scale)};
  }
  const ImVec2 text = size_in(piece.shape.type, flow.wrap, piece.text);
  return {std::ceil(text.x), std::round(text.y + note_air * scale)};
}

// Side by side, in as many lines as they need; the options of a hall that do not fit on one line in a column.
// `height` gets what they take.
std::vector<Piece> placed_pieces(const PageFlow& flow, const PlaylistWalk& walk, float& height) {
  const float scale = flow.scale, wrap = flow.wrap;
  std::vector<Piece> pieces = listed_pieces(walk);
  const float gap = std::round(between_pieces * scale);
  float in_one_line = -gap;
  for (Piece& piece : pieces) {
    const Type type = flow.type(flow.fonts.small, piece.text);
    piece.shape = is_button(piece) ? button_shape(scale, type, wrap, piece.text) : ButtonShape{type, {}};
    piece.shape.size = piece_size(flow, piece);
    if (piece.kind == PieceKind::option) in_one_line += piece.shape.size.x + gap;
  }
  // A unit is read with its number.
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    float& field = pieces[i - 1].shape.size.x;
    if (pieces[i - 1].kind == PieceKind::field && pieces[i].kind == PieceKind::note)
      field = std::clamp(wrap - gap - pieces[i].shape.size.x, std::min(least_typed * scale, field), field);
  }
  ImVec2 at{0, 0};
  float line = 0.0f;
  const auto next_line = [&] {
    if (at.x > 0) at = {0, at.y + line + gap};
    line = 0.0f;
  };
  for (Piece& piece : pieces) {
    piece.own_line = flow.hall && piece.kind == PieceKind::option && in_one_line > wrap;
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

void draw_field(const PageFlow& flow, const Piece& piece) {
  const PanelContext& context = flow.drawing->context;
  PlaylistWalk::Given& given = flow.drawing->walk.given;
  const ImGuiID id = ImGui::GetID(piece.id.c_str());
  if (std::exchange(given.wants_focus, false) && context.focus)
    take_focus(*context.focus, id, given.typed.size());
  const TextFieldResult typed = text_field(context.widgets(), piece.id.c_str(), given.typed,
                                           {.width = piece.shape.size.x,
                                            .font = field_font(flow),
                                            .wrong = given.unreadable,
                                            .placeholder = piece.tip.c_str()});
  if (typed.changed) given.unreadable = false;
  named_item(context.widgets(), piece.id.c_str(), "your answer; Enter submits it");
  // A clicker goes on from here, too: what was typed is the answer.
  const bool focused = context.focus && context.focus->focused == id;
  const bool advances = focused && key_pressed(Key::page_down, false);
  if (focused && key_pressed(Key::page_up, false)) flow.drawing->action.command = CommandId::previous_page;
  if (typed.entered || (advances && !given.typed.empty()))
    piece.press(context, given);
  else if (advances)
    given.done = true;
}

void draw_words_between(const PanelContext& context, const Piece& piece, ImVec2 at) {
  const bool error = piece.kind == PieceKind::error;
  const float wrap = piece.shape.size.x + 1.0f;
  const float below = 0.5f * (piece.shape.size.y - size_in(piece.shape.type, wrap, piece.text).y);
  draw_text_in(ImGui::GetWindowDrawList(), piece.shape.type, {at.x, std::round(at.y + below)},
               im_color(error ? context.palette.error : context.palette.text_dim), wrap, piece.text);
  if (error)
    ui_text_probe(piece.text, at);
  else
    ui_probe("caption/point", at, {at.x + piece.shape.size.x, at.y + piece.shape.size.y});
}

// Beside it stands the link that takes the answer back.
constexpr std::string_view take_back_words = "answer again";

std::string link_label(const AnswerOption& option) {
  return fmt::format("see “{}”", option.see);
}

// The option that was chosen, if it is wrong and a page goes into it.
const AnswerOption* linked_option(const PlaylistWalk& walk) {
  const PageAnswer& answer = *walk.shown()->answer;
  const std::vector<AnswerOption>& options = answer.options;
  const std::size_t option = walk.given.option;
  if (!walk.given.made || option >= options.size() || options[option].see.empty() ||
      is_right(answer, walk.words.key, walk.given).value_or(false) ||
      !page_titled(walk.playlist, options[option].see))
    return nullptr;
  return &options[option];
}

}  // namespace

void put_answer_controls(PageFlow& flow, const PlaylistWalk& walk) {
  float height = 0.0f;
  const std::vector<Piece> pieces = placed_pieces(flow, walk, height);
  if (flow.drawing) {
    const PanelContext& context = flow.drawing->context;
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    for (const Piece& piece : pieces) {
      const ImVec2 at{origin.x + piece.at.x, origin.y + piece.at.y};
      ImGui::SetCursorScreenPos(at);
      if (piece.kind == PieceKind::field) {
        draw_field(flow, piece);
      } else if (!is_button(piece)) {
        draw_words_between(context, piece, at);
      } else {
        const ButtonLook look = piece.kind == PieceKind::show ? ButtonLook::plain : ButtonLook::filled;
        const bool pressed =
            wrapped_button(context, piece.id.c_str(), piece.text, piece.shape, look, piece.enabled);
        named_item(context, piece.id.c_str(), piece.tip);
        if (pressed) piece.press(context, flow.drawing->walk.given);
      }
    }
    ImGui::SetCursorScreenPos(origin);
  }
  flow.take(height);
  flow.keep_more(0.0f);
}

float draw_take_back_link(const WidgetContext& widgets, const PlaylistWalk& walk, ImVec2 end,
                          PanelAction& action) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer || page->ask.empty() || !walk.answered || walk.arrival) return 0.0f;
  const float width = text_link_width(widgets, take_back_words);
  ImGui::SetCursorScreenPos({end.x - width, end.y});
  if (text_link(widgets, "caption/take_back", take_back_words, command_entry(CommandId::take_back_answer).what))
    action.command = CommandId::take_back_answer;
  return width;
}

void put_answer_verdict(PageFlow& flow, const PlaylistWalk& walk, Rgba8 Palette::*ink) {
  const PlaylistPage& page = *walk.shown();
  if (!page.answer) return;
  // A panel keeps room for the longest that may be said, so that nothing moves with the answer.
  const bool keeps_room = !flow.drawing && !flow.hall;
  const std::string verdict = answer_verdict(walk);
  if (verdict.empty() && !keeps_room) return;
  const float beside = std::ceil(width_of(flow.fonts.small, take_back_words) + flow.px(16));
  const float width = flow.hall ? flow.wrap : std::max(0.5f * flow.wrap, flow.wrap - beside);
  float height = 0.0f, link_height = 0.0f;
  for (const std::string& each : keeps_room ? longest_verdicts(walk) : std::vector{verdict})
    height = std::max(height, size_in(flow.type(flow.fonts.sans, each), width, each).y);
  if (flow.drawing) {
    const PanelContext& context = flow.drawing->context;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (!flow.hall) {  // on the full screen it stands at the foot
      draw_take_back_link(context, walk, {at.x + flow.wrap, at.y}, flow.drawing->action);
      ImGui::SetCursorScreenPos(at);
    }
    draw_text_in(ImGui::GetWindowDrawList(), flow.type(flow.fonts.sans, verdict), at,
                 im_color(context.palette.*ink), width, verdict);
    ui_probe("caption/verdict", at, {at.x + width, at.y + height});
    ui_text_probe(verdict, at);
    ImGui::Dummy({flow.wrap, height + flow.px(row_gap) - ImGui::GetStyle().ItemSpacing.y});
  }
  flow.count(height);
  const AnswerOption* linked = linked_option(walk);
  for (const AnswerOption& option : page.answer->options) {
    if (keeps_room ? option.see.empty() : &option != linked) continue;
    const std::string label = link_label(option);
    const ButtonShape shape = button_shape(flow.scale, flow.type(flow.fonts.small, label), flow.wrap, label);
    link_height = std::max(link_height, shape.size.y);
    if (!flow.drawing) continue;
    if (wrapped_button(flow.drawing->context, "caption/see", label, shape)) {
      PanelAction& action = flow.drawing->action;
      const std::optional<TitledPage> place = page_titled(walk.playlist, option.see);
      action.follows_link = true;
      if (place && place->lesson.empty()) action.page = place->page;
      if (place && !place->lesson.empty()) action.lesson = LessonPage{place->lesson, place->page};
    }
    named_item(flow.drawing->context, "caption/see", "go to the page about it");
  }
  if (link_height > 0.0f) flow.count(link_height);
}

std::string answer_words_now(const PlaylistWalk& walk) {
  if (!walk.shown()->answer) return "";
  std::string words;
  if (walk.answered) {
    const AnswerOption* link = linked_option(walk);
    return answer_verdict(walk) + (link ? "\n" + link_label(*link) : "");
  }
  for (const Piece& piece : listed_pieces(walk)) words += piece.text + "\n";
  return words;
}

}  // namespace headwise
