#include "app/window/page_answers.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/session/answer_check.h"
#include "app/session/commands.h"
#include "app/widgets/button.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/large_type.h"
#include "app/widgets/measure.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_link.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/answer_bars.h"
#include "app/window/answer_verdict.h"
#include "app/window/window_state.h"
#include "core/answers/live_text.h"
#include "core/tensor/join.h"
#include "core/trace/rules.h"

namespace headwise {
namespace {

constexpr float row_gap = 6;  // design units

// What was typed, as an answer; what is no number, or no shape, stays in the field.
void take_typed(const PanelContext& context, PlaylistWalk& walk, PanelAction& action) {
  if (walk.shown()->answer->kind == AnswerKind::shape) {
    walk.given.sizes =
        typed_sizes(walk.given.typed, LiveSubject(context.trace, &context.scenario, &context.inputs));
    walk.given.unreadable = walk.given.sizes.empty();
    if (!walk.given.unreadable) action.command = CommandId::next_page;
    return;
  }
  const std::optional<double> number = typed_number(walk.given.typed);
  walk.given.unreadable = !number;
  if (!number) return;
  walk.given.number = number;
  action.command = CommandId::next_page;
}

// What a button's press, or its Enter, does.
void press(PlaylistWalk& walk, const PanelContext& context, const Piece& piece, PanelAction& action) {
  PlaylistWalk::Given& given = walk.given;
  const AnswerKind kind = walk.shown()->answer->kind;
  if (piece.kind == PieceKind::scale) {
    const double sum = sum_of_bars(walk);
    for (double& bar : given.bars) bar /= sum;
    return;
  }
  if (piece.kind == PieceKind::give && (kind == AnswerKind::number || kind == AnswerKind::shape))
    return take_typed(context, walk, action);
  if (piece.kind == PieceKind::option) given.option = static_cast<std::size_t>(piece.index);
  if (piece.kind == PieceKind::head) given.head = piece.index;
  if (kind == AnswerKind::mask)  // that no pair is blocked is an answer too
    given.mask.touched = piece.kind == PieceKind::give;
  if (piece.kind == PieceKind::show && kind == AnswerKind::weights) given.bars.clear();
  action.command = CommandId::next_page;
}

bool is_enabled(const PlaylistWalk& walk, const Piece& piece) {
  const PlaylistWalk::Given& given = walk.given;
  const double sum = sum_of_bars(walk);
  if (piece.kind == PieceKind::scale) return sum > 0.0 && std::abs(sum - 1.0) > nearly_one;
  if (piece.kind != PieceKind::give) return true;
  switch (walk.shown()->answer->kind) {
    case AnswerKind::weights:
      return sum > 0.0;
    case AnswerKind::mask:
      return !given.mask.blocked.empty();
    default:
      return !given.typed.empty();
  }
}

std::string tooltip_of_piece(const PlaylistWalk& walk, const Piece& piece) {
  const AnswerKind kind = walk.shown()->answer->kind;
  const std::string key = first_key_text(CommandId::next_page);
  switch (piece.kind) {
    case PieceKind::option:
      return fmt::format("{} ({})", walk.words.options[static_cast<std::size_t>(piece.index)], piece.index + 1);
    case PieceKind::head:
      return fmt::format("head {}", piece.index);
    case PieceKind::scale:
      return "divide the bars by their sum, because the weights of a row sum to 1; the answer is scaled in "
             "any "
             "case";
    case PieceKind::show: {
      // Page Down does the same, but what was drawn is given by that key.
      const bool keyed = kind == AnswerKind::weights ? sum_of_bars(walk) == 0.0
                         : kind == AnswerKind::mask  ? !walk.given.mask.touched
                                                     : true;
      return keyed ? fmt::format("without answering ({})", key) : "without answering";
    }
    case PieceKind::give:
      if (kind == AnswerKind::mask) return "submit the pairs you painted, then show the result";
      if (kind == AnswerKind::weights)
        return is_enabled(walk, piece) ? fmt::format("submit the row you drew, then show the result ({})", key)
                                       : "draw the row first: drag over the bars";
      if (walk.given.unreadable) return kind == AnswerKind::shape ? unreadable_shape : unreadable_number;
      return "submit your answer, then show the result (Enter)";
    case PieceKind::field:
    case PieceKind::note:
    case PieceKind::error:
      break;
  }
  return "";
}

std::string id_of(const Piece& piece) {
  switch (piece.kind) {
    case PieceKind::option:
      return fmt::format("caption/option/{}", piece.index + 1);
    case PieceKind::head:
      return fmt::format("caption/head/{}", piece.index);
    case PieceKind::give:
      return "caption/give";
    case PieceKind::scale:
      return "caption/scale";
    case PieceKind::show:
      return "caption/answer";
    case PieceKind::field:
      return "caption/number";
    case PieceKind::note:
    case PieceKind::error:
      break;
  }
  return "caption/point";
}

void draw_number_field(const PanelContext& context, PlaylistWalk& walk, const Piece& piece, HallUnits hall,
                       PanelAction& action) {
  PlaylistWalk::Given& given = walk.given;
  if (std::exchange(given.wants_focus, false) && context.focus)
    take_focus(*context.focus, ImGui::GetID("caption/number"), given.typed.size());
  const bool shape = walk.shown()->answer->kind == AnswerKind::shape;
  const TextFieldResult typed = text_field(context.widgets(), "caption/number", given.typed,
                                           {.width = piece.shape.size.x,
                                            .font = field_font(context.fonts, hall),
                                            .wrong = given.unreadable,
                                            .placeholder = shape ? "a shape" : "a number"});
  if (typed.changed) given.unreadable = false;
  ui_probe_item("caption/number");
  tooltip(context.widgets(), "your answer; Enter submits it");
  // A clicker goes on from here, too: what was typed is the answer.
  const bool goes_on = context.focus && context.focus->focused == ImGui::GetID("caption/number") &&
                       key_pressed(Key::page_down, false);
  if (typed.entered || (goes_on && !given.typed.empty()))
    take_typed(context, walk, action);
  else if (goes_on)
    action.command = CommandId::next_page;
}

void draw_words_between(const PanelContext& context, const Piece& piece, ImVec2 at) {
  const bool error = piece.kind == PieceKind::error;
  const float wrap = piece.shape.size.x + 1.0f;
  const float below = 0.5f * (piece.shape.size.y - size_in(piece.shape.type, wrap, piece.text).y);
  draw_text_in(ImGui::GetWindowDrawList(), piece.shape.type, {at.x, std::round(at.y + below)},
               im_color(error ? context.palette.error : context.palette.text_dim), wrap, piece.text);
  if (error)
    ui_says(piece.text, at);
  else
    ui_probe("caption/point", at, {at.x + piece.shape.size.x, at.y + piece.shape.size.y});
}

// The verdict may be as long as one of these.
std::vector<std::string> longest_verdicts(const PlaylistWalk& walk) {
  const PageAnswer& answer = *walk.shown()->answer;
  const AnswerKey& key = walk.words.key;
  std::vector<std::string> verdicts{right_answer(walk)};
  switch (answer.kind) {
    case AnswerKind::choice:
    case AnswerKind::tensor:
      for (std::size_t i = 0; i < walk.words.options.size(); ++i)
        verdicts.push_back(choice_verdict(walk.words, i));
      break;
    case AnswerKind::weights: {
      std::string widest;
      for (const std::string& label : walk.words.weight_labels)
        if (label.size() > widest.size()) widest = label;
      verdicts.push_back(fmt::format(
          "You drew a row of weights: right, 0.00 of the weight lies at the wrong keys; the largest "
          "difference is at “{}”: you drew 0.00, it is 0.00.",
          widest));
      break;
    }
    case AnswerKind::mask:
      verdicts.emplace_back(
          "You blocked 000 of 000 pairs; 000 are wrong, outlined on the map: 000 blocked pairs are "
          "missed, 000 open pairs are blocked.");
      break;
    case AnswerKind::number:
      verdicts.push_back(fmt::format("You said 0.000; it is {} {}: 0.000 too high. {}", key.shown,
                                     answer.unit, walk.words.why));
      break;
    case AnswerKind::shape:
      verdicts.push_back(
          fmt::format("You said {0}; it is {0}. The sizes are right, their order is not.", key.shown));
      break;
    case AnswerKind::head:
      verdicts.emplace_back("You chose head 00; right is head 00.");
      break;
    case AnswerKind::cell:
      verdicts.push_back(fmt::format("You pointed at row 00, column 00; right is {}.", key.shown));
      break;
  }
  return verdicts;
}

Type verdict_type(const Fonts& fonts, float scale, HallUnits hall, const std::string& text) {
  return hall > 0 ? type_at(fonts, scale, hall, text) : own_size(fonts.sans);
}

// Beside it stands the link that takes the answer back.
constexpr std::string_view take_back_words = "answer again";
float verdict_wrap(const Fonts& fonts, float scale, float wrap) {
  return std::max(0.5f * wrap, wrap - std::ceil(width_of(fonts.small, take_back_words) + 16 * scale));
}

// A link to a page.
ButtonShape link_shape(const Fonts& fonts, float scale, float wrap, HallUnits hall, const std::string& label) {
  return button_shape(scale, control_type(fonts, scale, hall, label), wrap, label);
}

std::string link_label(const AnswerOption& option) {
  return fmt::format("see “{}”", option.see);
}

// The option that was chosen, if it is wrong and a page goes into it.
const AnswerOption* linked_option(const PlaylistWalk& walk) {
  const std::vector<AnswerOption>& options = walk.shown()->answer->options;
  const std::optional<std::size_t> option = walk.given.option;
  if (!option || *option >= options.size() || options[*option].see.empty() || walk.words.key.option == option)
    return nullptr;
  return &options[*option];
}

}  // namespace

float answer_controls_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                             HallUnits hall) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  float height = 0.0f;
  placed_pieces(fonts, scale, wrap, walk, hall, height);
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

float answer_height_now(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk, HallUnits hall) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  if (!walk.answered) return answer_controls_height(fonts, scale, wrap, walk, hall);
  const std::string verdict = answer_verdict(walk);
  if (verdict.empty()) return 0.0f;
  const AnswerOption* link = linked_option(walk);
  const float below =
      link ? link_shape(fonts, scale, wrap, hall, link_label(*link)).size.y + ImGui::GetStyle().ItemSpacing.y
           : 0.0f;
  const float width = hall > 0 ? wrap : verdict_wrap(fonts, scale, wrap);
  return size_in(verdict_type(fonts, scale, hall, verdict), width, verdict).y + below +
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

void draw_answer_controls(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action,
                          HallUnits hall) {
  const WidgetContext widgets = context.widgets();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float height = 0.0f;
  for (const Piece& piece : placed_pieces(context.fonts, context.scale, wrap, walk, hall, height)) {
    const ImVec2 at{origin.x + piece.at.x, origin.y + piece.at.y};
    ImGui::SetCursorScreenPos(at);
    if (piece.kind == PieceKind::field) {
      draw_number_field(context, walk, piece, hall, action);
    } else if (!is_button(piece.kind)) {
      draw_words_between(context, piece, at);
    } else {
      const std::string id = id_of(piece);
      const ButtonLook look = piece.kind == PieceKind::show ? ButtonLook::plain : ButtonLook::filled;
      const bool pressed =
          wrapped_button(widgets, id.c_str(), piece.text, piece.shape, look, is_enabled(walk, piece));
      ui_probe_item(id.c_str());
      tooltip(widgets, tooltip_of_piece(walk, piece));
      if (pressed) press(walk, context, piece, action);
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({wrap, height});
}

void draw_answer_verdict(const PanelContext& context, const PlaylistWalk& walk, float wrap,
                         PanelAction& action, HallUnits hall) {
  const std::string verdict = answer_verdict(walk);
  if (verdict.empty()) return;
  const WidgetContext widgets = context.widgets();
  const Type type = verdict_type(context.fonts, context.scale, hall, verdict);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = hall > 0 ? wrap : verdict_wrap(context.fonts, context.scale, wrap);
  // In front of a class nothing is clicked; the list of commands has it too.
  if (hall == 0 && walk.given.any()) {
    ImGui::SetCursorScreenPos({at.x + wrap - text_link_width(widgets, take_back_words), at.y});
    if (text_link(widgets, "caption/take_back", take_back_words,
                  command_entry(CommandId::take_back_answer).what))
      action.command = CommandId::take_back_answer;
    ImGui::SetCursorScreenPos(at);
  }
  const float height = size_in(type, width, verdict).y, spacing = ImGui::GetStyle().ItemSpacing.y;
  draw_text_in(ImGui::GetWindowDrawList(), type, at, im_color(context.palette.text), width, verdict);
  ui_probe("caption/verdict", at, {at.x + width, at.y + height});
  ui_says(verdict, at);
  ImGui::Dummy({wrap, height + widgets.px(row_gap) - spacing});
  const AnswerOption* link = linked_option(walk);
  if (!link) return;
  const std::string label = link_label(*link);
  if (wrapped_button(widgets, "caption/see", label,
                     link_shape(context.fonts, context.scale, wrap, hall, label))) {
    const std::optional<TitledPage> place = page_titled(walk.playlist, link->see);
    if (place && place->lesson.empty()) action.page = place->page;
    if (place && !place->lesson.empty()) action.lesson = LessonPage{place->lesson, place->page};
  }
  ui_probe_item("caption/see");
  tooltip(widgets, "go to the page about it");
}

namespace {

// The tensor whose map or name was clicked.
std::optional<TensorId> clicked_tensor(const Selection& wanted, const Selection& now) {
  if (wanted.pinned && wanted.pinned != now.pinned && !wanted.pinned->tensor.gradient)
    return wanted.pinned->tensor.id;
  return wanted.tensor != now.tensor ? wanted.tensor : std::nullopt;
}

// Whether the click is an answer; one on a tensor that is not asked about is told.
bool answer_by_tensor(WindowState& window, TensorId clicked) {
  PlaylistWalk& walk = window.document.walk;
  const Trace& trace = window.document.session.trace();
  for (std::size_t i = 0; i < walk.words.options.size(); ++i) {
    const std::optional<TensorName> name = find_tensor_name(walk.words.options[i]);
    if (!name || first_name(trace, *name) != first_name(trace, {clicked})) continue;
    walk.given.option = i;
    walk_pages(window, 1);
    return true;
  }
  window.view.notices.say(fmt::format("{} is not one of the options: {}.", tensor_entry(clicked).name,
                                      join(walk.words.options, ", ")));
  return false;
}

}  // namespace

bool answer_by_head(WindowState& window, Index head) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_for_head(walk)) return false;
  walk.given.head = head;
  walk_pages(window, 1);
  return true;
}

bool answer_by_pointing(WindowState& window, const Selection& wanted) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_now(walk) || !walk.shown()->answer) return false;
  const PageAnswer& answer = *walk.shown()->answer;
  const Selection& now = window.view.selection;
  if (answer.kind == AnswerKind::tensor) {
    const std::optional<TensorId> clicked = clicked_tensor(wanted, now);
    return clicked && answer_by_tensor(window, *clicked);
  }
  if (answer.kind == AnswerKind::head && wanted.head != now.head) {
    walk.given.head = wanted.head;
  } else if (answer.kind == AnswerKind::cell && wanted.pinned && wanted.pinned != now.pinned &&
             wanted.pinned->tensor == TensorName{*answer.tensor}) {
    walk.given.cell = wanted.pinned;
  } else {
    return false;
  }
  walk_pages(window, 1);
  return true;
}

bool answer_by_key(WindowState& window, KeyChord chord) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_now(walk) || !walk.shown()->answer) return false;
  const int digit = static_cast<int>(chord.key) - static_cast<int>(Key::zero);
  if (chord.ctrl || chord.alt || chord.shift || digit < 0 || digit > 9) return false;
  const AnswerKind kind = walk.shown()->answer->kind;
  if (kind == AnswerKind::cell || kind == AnswerKind::mask) return false;
  if (kind == AnswerKind::weights) {
    walk.given.wants_focus = true;
    if (walk.given.bar < walk.given.bars.size()) walk.given.bars[walk.given.bar] = digit / 10.0;
    return true;
  }
  if (kind == AnswerKind::number || kind == AnswerKind::shape) {
    walk.given.wants_focus = true;  // the character itself arrives as typed text
    return true;
  }
  if (kind == AnswerKind::head) {
    if (digit >= window.document.session.trace().options.num_heads) return false;
    walk.given.head = digit;
    walk_pages(window, 1);
    return true;
  }
  if (digit < 1 || static_cast<std::size_t>(digit) > walk.words.options.size()) return false;
  walk.given.option = static_cast<std::size_t>(digit - 1);
  walk_pages(window, 1);
  return true;
}

}  // namespace headwise
