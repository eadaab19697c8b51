#include "app/window/page_answers.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/session/answer_check.h"
#include "app/session/commands.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/answer_bars.h"
#include "app/window/page_place.h"
#include "app/window/window_state.h"

namespace headwise {
namespace {

constexpr float row_gap = 6;  // design units

Type control_type(const Fonts& fonts, float scale, PresentationUnits presentation, const std::string& text) {
  return presentation > 0 ? type_at(fonts, scale, presentation, text) : own_size(fonts.small);
}

ImFont* field_font(const Fonts& fonts, PresentationUnits presentation) {
  return presentation >= 24 ? fonts.formula : presentation >= 18 ? fonts.caption : fonts.sans;
}

bool is_button(const Piece& piece) {
  return piece.kind == PieceKind::option || piece.kind == PieceKind::button || piece.kind == PieceKind::show;
}

// Design units; a button is as high and as wide as app/widgets/controls.h makes it.
constexpr float piece_height = 26, between_pieces = 6, typed_width = 120, least_typed = 70, note_air = 13,
                field_air = 14;
constexpr float usual_number = 15;  // the type of a field that is typed_width wide

ImVec2 piece_size(const Fonts& fonts, float scale, float wrap, PresentationUnits presentation,
                  const Piece& piece) {
  if (is_button(piece)) return piece.shape.size;
  if (piece.kind == PieceKind::field) {
    ImFont* font = field_font(fonts, presentation);
    const float width = std::round(typed_width * std::max(1.0f, presentation / usual_number) * scale);
    return {std::min(width, wrap),
            std::round(presentation > 0 ? font->FontSize + field_air * scale : piece_height * scale)};
  }
  const ImVec2 text = size_in(piece.shape.type, wrap, piece.text);
  return {std::ceil(text.x), std::round(text.y + note_air * scale)};
}

// Side by side, in as many lines as they need; the options of a hall that do not fit on one line in a column.
// `height` gets what they take.
std::vector<Piece> placed_pieces(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                                 PresentationUnits presentation, float& height) {
  std::vector<Piece> pieces = listed_pieces(walk);
  const float gap = std::round(between_pieces * scale);
  float in_one_line = -gap;
  for (Piece& piece : pieces) {
    const Type type = control_type(fonts, scale, presentation, piece.text);
    if (is_button(piece))
      piece.shape = button_shape(scale, type, wrap, piece.text);
    else
      piece.shape = {type, {}};
    piece.shape.size = piece_size(fonts, scale, wrap, presentation, piece);
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
    piece.own_line = presentation > 0 && piece.kind == PieceKind::option && in_one_line > wrap;
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

void draw_field(const PanelContext& context, PlaylistWalk::Given& given, const Piece& piece,
                PresentationUnits presentation, PanelAction& action) {
  const ImGuiID id = ImGui::GetID(piece.id.c_str());
  if (std::exchange(given.wants_focus, false) && context.focus)
    take_focus(*context.focus, id, given.typed.size());
  const TextFieldResult typed = text_field(context.widgets(), piece.id.c_str(), given.typed,
                                           {.width = piece.shape.size.x,
                                            .font = field_font(context.fonts, presentation),
                                            .wrong = given.unreadable,
                                            .placeholder = piece.tip.c_str()});
  if (typed.changed) given.unreadable = false;
  named_item(context.widgets(), piece.id.c_str(), "your answer; Enter submits it");
  // A clicker goes on from here, too: what was typed is the answer.
  const bool focused = context.focus && context.focus->focused == id;
  const bool advances = focused && key_pressed(Key::page_down, false);
  if (focused && key_pressed(Key::page_up, false)) action.command = CommandId::previous_page;
  if (typed.entered || (advances && !given.typed.empty()))
    action.answers = piece.press(context, given);
  else if (advances)
    action.answers = true;
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

Type verdict_type(const Fonts& fonts, float scale, PresentationUnits presentation, const std::string& text) {
  return presentation > 0 ? type_at(fonts, scale, presentation, text) : own_size(fonts.sans);
}

// Beside it stands the link that takes the answer back.
constexpr std::string_view take_back_words = "answer again";

float verdict_wrap(const Fonts& fonts, float scale, float wrap) {
  return std::max(0.5f * wrap, wrap - std::ceil(width_of(fonts.small, take_back_words) + 16 * scale));
}

// A link to a page.
ButtonShape link_shape(const Fonts& fonts, float scale, float wrap, PresentationUnits presentation,
                       const std::string& label) {
  return button_shape(scale, control_type(fonts, scale, presentation, label), wrap, label);
}

std::string link_label(const AnswerOption& option) {
  return fmt::format("see “{}”", option.see);
}

// The option that was chosen, if it is wrong and a page goes into it.
const AnswerOption* linked_option(const PlaylistWalk& walk) {
  const std::vector<AnswerOption>& options = walk.shown()->answer->options;
  const std::size_t option = walk.given.option;
  if (!walk.given.made || option >= options.size() || options[option].see.empty() ||
      walk.words.key.option == option || !page_titled(walk.playlist, options[option].see))
    return nullptr;
  return &options[option];
}

}  // namespace

float answer_controls_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                             PresentationUnits presentation) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  float height = 0.0f;
  placed_pieces(fonts, scale, wrap, walk, presentation, height);
  return height + ImGui::GetStyle().ItemSpacing.y;
}

float answer_verdict_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  float most = 0.0f, link = 0.0f;
  const float width = verdict_wrap(fonts, scale, wrap);
  for (const std::string& verdict : longest_verdicts(walk))
    most = std::max(most, size_in(verdict_type(fonts, scale, 0, verdict), width, verdict).y);
  for (const AnswerOption& option : page->answer->options)
    if (!option.see.empty())
      link = std::max(link, link_shape(fonts, scale, wrap, 0, link_label(option)).size.y + row_gap * scale);
  return most + std::round(link) + std::round(row_gap * scale);
}

void draw_answer_controls(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action,
                          PresentationUnits presentation) {
  const WidgetContext widgets = context.widgets();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float height = 0.0f;
  for (const Piece& piece : placed_pieces(context.fonts, context.scale, wrap, walk, presentation, height)) {
    const ImVec2 at{origin.x + piece.at.x, origin.y + piece.at.y};
    ImGui::SetCursorScreenPos(at);
    if (piece.kind == PieceKind::field) {
      draw_field(context, walk.given, piece, presentation, action);
    } else if (!is_button(piece)) {
      draw_words_between(context, piece, at);
    } else {
      const ButtonLook look = piece.kind == PieceKind::show ? ButtonLook::plain : ButtonLook::filled;
      const bool pressed =
          wrapped_button(widgets, piece.id.c_str(), piece.text, piece.shape, look, piece.enabled);
      named_item(widgets, piece.id.c_str(), piece.tip);
      if (pressed) action.answers = piece.press(context, walk.given);
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({wrap, height});
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

void draw_answer_verdict(const PanelContext& context, const PlaylistWalk& walk, float wrap, Rgba8 ink,
                         PanelAction& action, PresentationUnits presentation) {
  const std::string verdict = answer_verdict(walk);
  if (verdict.empty()) return;
  const WidgetContext widgets = context.widgets();
  const Type type = verdict_type(context.fonts, context.scale, presentation, verdict);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = presentation > 0 ? wrap : verdict_wrap(context.fonts, context.scale, wrap);
  if (presentation == 0) {  // on the full screen it stands at the foot
    draw_take_back_link(widgets, walk, {at.x + wrap, at.y}, action);
    ImGui::SetCursorScreenPos(at);
  }
  const float height = size_in(type, width, verdict).y, spacing = ImGui::GetStyle().ItemSpacing.y;
  draw_text_in(ImGui::GetWindowDrawList(), type, at, im_color(ink), width, verdict);
  ui_probe("caption/verdict", at, {at.x + width, at.y + height});
  ui_text_probe(verdict, at);
  ImGui::Dummy({wrap, height + widgets.px(row_gap) - spacing});
  const AnswerOption* link = linked_option(walk);
  if (!link) return;
  const std::string label = link_label(*link);
  if (wrapped_button(widgets, "caption/see", label,
                     link_shape(context.fonts, context.scale, wrap, presentation, label))) {
    const std::optional<TitledPage> place = page_titled(walk.playlist, link->see);
    action.follows_link = true;
    if (place && place->lesson.empty()) action.page = place->page;
    if (place && !place->lesson.empty()) action.lesson = LessonPage{place->lesson, place->page};
  }
  named_item(widgets, "caption/see", "go to the page about it");
}

bool answer_by_head(WindowState& window, Index head) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_for_head(walk)) return false;
  walk.given.head = head;
  walk.given.made = true;
  reveal_answer(window);
  return true;
}

bool answer_by_pointing(WindowState& window, const Selection& wanted) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_now(walk) || !walk.shown()->answer || !view_of(*walk.shown()->answer).click(window, wanted))
    return false;
  walk.given.made = true;
  reveal_answer(window);
  return true;
}

void answer_by_character(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  const FocusOrder& focus = window.view.focus;
  const bool writes = (focus.focused != 0 && focus.keys == FocusKeys::text) || focus.list != KeyedList::none;
  if (writes || !asks_now(walk) || !walk.shown()->answer) return;
  const AnswerKindView& view = view_of(*walk.shown()->answer);
  const auto begins = [&](ImWchar typed) {
    return std::ranges::any_of(view.characters, [&](char each) { return typed == ImWchar(each); });
  };
  if (std::ranges::any_of(ImGui::GetIO().InputQueueCharacters, begins)) view.digit(walk, 0);
}

bool answer_by_key(WindowState& window, KeyChord chord) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page || walk.shown()->ask.empty() || !walk.shown()->answer) return false;
  const int digit = static_cast<int>(chord.key) - static_cast<int>(Key::zero);
  const AnswerKindView& view = view_of(*walk.shown()->answer);
  const bool is_digit = digit >= 0 && digit <= 9, typed = view.typed;
  const auto is_key = [&](char each) { return chord.key == letter(each); };
  const bool types = is_digit || (typed && (chord.key == Key::minus || is_key('.'))) ||
                     (asks_now(walk) && std::ranges::any_of(view.letters, is_key));
  if (chord.ctrl || chord.alt || chord.shift || !types) return false;
  // A number that is typed once more is still none of a head. Elsewhere digits are the keys of heads again.
  if (typed && walk.answered && !walk.edits_words && !walk.arrival && window.view.full_screen) {
    window.view.notices.say(fmt::format("The answer is already shown. “{}” asks the question again.",
                                        command_entry(CommandId::take_back_answer).name));
    return true;
  }
  if (!asks_now(walk)) return false;
  const AnswerInput input = view.digit(walk, digit);
  if (input != AnswerInput::answers) return input == AnswerInput::taken;
  walk.given.made = true;
  reveal_answer(window);
  return true;
}

namespace {

constexpr float beside_option = 12;  // design units, as app/widgets/controls.cpp draws it

// Of what is shown now, in a hall: the controls, or the verdict of the answer that was given; and all that it
// says, to know which letters it needs.
float answer_height_now(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                        PresentationUnits presentation) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  if (!walk.answered) return answer_controls_height(fonts, scale, wrap, walk, presentation);
  const std::string verdict = answer_verdict(walk);
  if (verdict.empty()) return 0.0f;
  const AnswerOption* link = linked_option(walk);
  const float below = link ? link_shape(fonts, scale, wrap, presentation, link_label(*link)).size.y +
                                 ImGui::GetStyle().ItemSpacing.y
                           : 0.0f;
  const float width = presentation > 0 ? wrap : verdict_wrap(fonts, scale, wrap);
  return size_in(verdict_type(fonts, scale, presentation, verdict), width, verdict).y + below +
         std::round(row_gap * scale);
}

std::string answer_words_now(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  if (walk.answered) {
    const AnswerOption* link = linked_option(walk);
    return answer_verdict(walk) + (link ? "\n" + link_label(*link) : "");
  }
  std::string words;
  for (const Piece& piece : listed_pieces(walk)) words += piece.text + "\n";
  return words;
}

}  // namespace

Type heading_type(const Fonts& fonts, float scale, const PresentationType& type, const std::string& title) {
  const Type bold = type_at(fonts, scale, type.title, title, true),
             plain = type_at(fonts, scale, type.title, title);
  return plain.size > bold.size ? plain : bold;
}

float presentation_words_height(const Fonts& fonts, float scale, float width, const PresentationType& type,
                                const PlaylistWalk& walk) {
  const float wrap = words_beside_bars(scale, width, walk), spacing = ImGui::GetStyle().ItemSpacing.y;
  const auto height = [&](const std::string& text) {
    return size_in(type_at(fonts, scale, type.words, text), wrap, text).y;
  };
  const std::string& title = walk.shown()->title;
  float all = 0.0f;
  if (!title.empty())
    all += size_in(heading_type(fonts, scale, type, title), wrap, title).y + below_title * scale + spacing;
  if (!walk.words.ask.empty()) all += height(walk.words.ask) + below_question * scale + spacing;
  for (const auto& [words, way_back, place] : stage_differences(walk, true))
    all += height(words) + spacing + (4 + below_question) * scale +
           button_shape(scale, type_at(fonts, scale, type.words, words), wrap, way_back).size.y + spacing;
  if (const float chart = answer_bars_room(scale, width, walk, true).below; chart > 0.0f)
    all += chart + spacing;
  const float shows =
      button_shape(scale, type_at(fonts, scale, type.words, answer_hint), wrap, answer_hint).size.y;
  if (walk.shown()->answer) all += answer_height_now(fonts, scale, wrap, walk, type.words);
  if (walk.answered)
    all += height(walk.words.caption);
  else if (!walk.shown()->answer)
    all += shows;
  return all;
}

bool presentation_type_suits(const Fonts& fonts, float scale, float width, const PresentationType& type,
                             const PlaylistWalk& walk) {
  const float wrap = words_beside_bars(scale, width, walk), inside = wrap - 2 * beside_option * scale;
  const std::string& title = walk.shown()->title;
  const Type heading = heading_type(fonts, scale, type, title);
  const auto suits = [&](const std::string& text, float room) {
    const Type words = type_at(fonts, scale, type.words, text);
    return words.size >= std::round(type.words * scale) && (title.empty() || heading.size > words.size) &&
           widest_word(words, text) <= room;
  };
  return widest_word(heading, title) <= wrap && suits(walk.words.ask, wrap) &&
         suits(walk.answered ? walk.words.caption : "", wrap) && suits(answer_words_now(walk), inside);
}

PresentationType presentation_type(const Fonts& fonts, float scale, float width, float height,
                                   const PlaylistWalk& walk) {
  for (const PresentationType& type : presentation_types)
    if (presentation_type_suits(fonts, scale, width, type, walk) &&
        presentation_words_height(fonts, scale, width, type, walk) <= height)
      return type;
  return presentation_types.back();
}

}  // namespace headwise
