#include "app/window/page_answers.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/session/answer_check.h"
#include "app/session/commands.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/button.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/window_state.h"
#include "core/answers/live_text.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Design units; a button is as high and as wide as app/widgets/button.h makes it.
constexpr float button_height = 26, button_padding = 12, row_gap = 6, number_width = 120, link_height = 32;
constexpr Index most_head_buttons = 16;
constexpr const char* answer_hint = "show the answer";
constexpr const char* unreadable_number = "type a number, such as 0.5, 1/8 or 50 %";
constexpr const char* unreadable_shape = "type sizes, such as 1, 8, 12, 16 or N H L D";

std::string number_words(double number) {
  const double size = std::abs(number);
  if (number != std::floor(number) || size >= 1e9) return live_number(number);
  return fmt::format("{}{:.0f}", number < 0.0 ? "−" : "", size);
}

std::string with_unit(const std::string& number, const PageAnswer& answer) {
  return answer.unit.empty() ? number : number + " " + answer.unit;
}

std::string number_verdict(const PageAnswer& answer, const AnswerKey& key, double given) {
  const std::string said = fmt::format("You said {}", number_words(given));
  if (key.waits) return said + ". The right number takes too long to be computed here.";
  if (!key.number) return said + ". As the page is now, there is no right number to compare it with.";
  const std::string is = with_unit(key.shown, answer);
  if (given == *key.number) return fmt::format("{}: right.", said);
  if (is_right(answer, *key.number, given)) return fmt::format("{}: right, it is {}.", said, is);
  const double off = given - *key.number;
  return fmt::format("{}; it is {}: {} too {}.", said, is, number_words(std::abs(off)),
                     off > 0.0 ? "high" : "low");
}

std::string shape_verdict(const AnswerKey& key, std::vector<Index> given) {
  const std::string said = fmt::format("You said ({})", join(given, ","));
  if (key.sizes.empty()) return said + ". As the page is now, there is no such tensor.";
  if (given == key.sizes) return said + ": right.";
  std::vector<Index> right = key.sizes;
  std::ranges::sort(right);
  std::ranges::sort(given);
  return fmt::format("{}; it is {}.{}", said, key.shown,
                     given == right ? " The sizes are right, their order is not." : "");
}

// The given cell is named as the key is, by what decides.
std::string cell_verdict(const PageWords& words, const CellRef& given) {
  const AnswerKey& key = words.key;
  const Index row = given.index[given.index.size() - 2], column = given.index.back();
  const std::string said = fmt::format("You pointed at row {}, column {}", row, column);
  if (!key.row && !key.column) return said + ". As the page is now, there is no right cell.";
  const bool right = (!key.row || *key.row == row) && (!key.column || *key.column == column);
  return right ? fmt::format("{}: right.", said) : fmt::format("{}; right is {}.", said, key.shown);
}

std::string choice_verdict(const PageWords& words, std::size_t given) {
  const auto named = [&](std::size_t i) { return fmt::format("{}, “{}”", i + 1, words.options[i]); };
  if (words.key.waits)
    return fmt::format("You chose {}. Its numbers take too long to be computed here.", named(given));
  if (!words.key.option)
    return fmt::format("You chose {}. As the page is now, no single option is right.", named(given));
  if (*words.key.option == given) return fmt::format("You chose {}: right.", named(given));
  const std::string& why = words.whys[given];
  return fmt::format("You chose {}; right is {}.{}{}", named(given), named(*words.key.option),
                     why.empty() ? "" : " ", why);
}

float wrapped_height(ImFont* font, float wrap, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, with_line_breaks(text, font, wrap).c_str()).y;
}

// The labels of the options, with the digit that chooses each; at the end the one that shows the answer.
std::vector<std::string> labels_of(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk) {
  std::vector<std::string> labels;
  const float room = wrap - 2 * button_padding * scale;
  for (const std::string& option : walk.words.options)
    labels.push_back(fitted_text(fmt::format("{}   {}", labels.size() + 1, option), fonts.small, room));
  labels.emplace_back(answer_hint);
  return labels;
}

// Places buttons side by side, in as many lines as they need; returns the height.
float flow(const Fonts& fonts, float scale, float wrap, const std::vector<std::string>& labels,
           const std::function<void(std::size_t, ImVec2)>& put) {
  const float height = std::round(button_height * scale), gap = std::round(row_gap * scale);
  ImVec2 at{0, 0};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const float width = std::ceil(width_of(fonts.small, labels[i]) + 2 * button_padding * scale);
    if (at.x > 0 && at.x + width > wrap) at = {0, at.y + height + gap};
    put(i, at);
    at.x += width + gap;
  }
  return at.y + height + gap;
}

bool draw_show_button(const PanelContext& context) {
  const bool pressed = text_button(context.widgets(), "caption/answer", answer_hint, ButtonLook::plain);
  ui_probe_item("caption/answer");
  tooltip(context.widgets(), fmt::format("without answering ({})", first_key_text(CommandId::next_page)));
  return pressed;
}

void draw_options(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const std::vector<std::string> labels = labels_of(context.fonts, context.scale, wrap, walk);
  const float height = flow(context.fonts, context.scale, wrap, labels, [&](std::size_t i, ImVec2 at) {
    ImGui::SetCursorScreenPos({origin.x + at.x, origin.y + at.y});
    if (i + 1 == labels.size()) {
      if (draw_show_button(context)) action.command = CommandId::next_page;
      return;
    }
    const std::string id = fmt::format("caption/option/{}", i + 1);
    if (text_button(context.widgets(), id.c_str(), labels[i], ButtonLook::filled)) {
      walk.given.option = i;
      action.command = CommandId::next_page;
    }
    ui_probe_item(id.c_str());
    tooltip(context.widgets(), fmt::format("{} ({})", walk.words.options[i], i + 1));
  });
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({wrap, height});
}

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

void draw_typed(const PanelContext& context, PlaylistWalk& walk, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const PageAnswer& answer = *walk.shown()->answer;
  const bool shape = answer.kind == AnswerKind::shape;
  const char* unreadable = shape ? unreadable_shape : unreadable_number;
  PlaylistWalk::Given& given = walk.given;
  if (std::exchange(given.wants_focus, false) && context.focus)
    take_focus(*context.focus, ImGui::GetID("caption/number"), given.typed.size());
  const TextFieldResult typed = text_field(widgets, "caption/number", given.typed,
                                           {.width = widgets.px(number_width),
                                            .wrong = given.unreadable,
                                            .placeholder = shape ? "a shape" : "a number"});
  if (typed.changed) given.unreadable = false;
  ui_probe_item("caption/number");
  tooltip(widgets, "your answer; Enter submits it");
  ImGui::SameLine(0, widgets.px(row_gap));
  if (!answer.unit.empty()) {
    ImFont* font = context.fonts.small;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddText(
        font, font->FontSize, {at.x, at.y + std::round(0.5f * (widgets.px(button_height) - font->FontSize))},
        im_color(context.palette.text_dim), answer.unit.c_str());
    ImGui::Dummy({width_of(font, answer.unit) + widgets.px(row_gap), widgets.px(button_height)});
    ImGui::SameLine(0, 0);
  }
  const bool pressed = text_button(widgets, "caption/give", "answer", ButtonLook::filled, !given.typed.empty());
  ui_probe_item("caption/give");
  tooltip(widgets, given.unreadable ? unreadable : "submit your answer, then show the result (Enter)");
  if (pressed || typed.entered) take_typed(context, walk, action);
  ImGui::SameLine(0, widgets.px(row_gap));
  if (given.unreadable) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImFont* font = context.fonts.small;
    ImGui::GetWindowDrawList()->AddText(
        font, font->FontSize, {at.x, at.y + std::round(0.5f * (widgets.px(button_height) - font->FontSize))},
        im_color(context.palette.error), unreadable);
    ui_says(unreadable, at);
    ImGui::Dummy({width_of(font, unreadable), widgets.px(button_height)});
  } else if (draw_show_button(context)) {
    action.command = CommandId::next_page;
  }
}

// What is to be clicked on the stage. Heads have buttons too: the right one may be the one that is shown.
void draw_to_point_at(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const PageAnswer& answer = *walk.shown()->answer;
  const float gap = std::round(widgets.px(row_gap));
  if (answer.kind == AnswerKind::head) {
    const Index heads = std::min<Index>(context.trace.options.num_heads, most_head_buttons);
    for (Index head = 0; head < heads; ++head) {
      const std::string id = fmt::format("caption/head/{}", head);
      if (text_button(widgets, id.c_str(), std::to_string(head), ButtonLook::filled)) {
        walk.given.head = head;
        action.command = CommandId::next_page;
      }
      ui_probe_item(id.c_str());
      tooltip(widgets, fmt::format("head {}", head));
      ImGui::SameLine(0, gap);
      if (ImGui::GetCursorPosX() + widgets.px(140) > ImGui::GetWindowContentRegionMin().x + wrap) break;
    }
  }
  ImFont* font = context.fonts.small;
  const std::string what = answer.kind == AnswerKind::head
                               ? std::string("or click one on the stage")
                               : fmt::format("click a cell of {}; by keys: Enter, the arrows, Enter",
                                             tensor_entry(*answer.tensor).name);
  const std::string told = fitted_text(what, font, std::max(0.0f, wrap - widgets.px(140)));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddText(
      font, font->FontSize, {at.x, at.y + std::round(0.5f * (widgets.px(button_height) - font->FontSize))},
      im_color(context.palette.text_dim), told.c_str());
  ui_probe("caption/point", at, {at.x + width_of(font, told), at.y + widgets.px(button_height)});
  ImGui::Dummy({width_of(font, told), widgets.px(button_height)});
  ImGui::SameLine(0, gap);
  if (draw_show_button(context)) action.command = CommandId::next_page;
}

}  // namespace

std::string answer_verdict(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  const PlaylistWalk::Given& given = walk.given;
  const AnswerKey& key = walk.words.key;
  if (given.head) {
    const std::string said = fmt::format("You chose head {}", *given.head);
    if (!key.head) return said + ". As the page is now, there is no right one.";
    return *key.head == *given.head ? said + ": right." : fmt::format("{}; right is head {}.", said, *key.head);
  }
  if (!given.sizes.empty()) return shape_verdict(key, given.sizes);
  if (given.cell) return cell_verdict(walk.words, *given.cell);
  if (given.number) return number_verdict(*page->answer, walk.words.key, *given.number);
  return given.option && *given.option < walk.words.options.size() ? choice_verdict(walk.words, *given.option)
                                                                   : "";
}

float answer_controls_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  if (!page->answer->chooses()) return std::round((button_height + row_gap) * scale) + spacing;
  return flow(fonts, scale, wrap, labels_of(fonts, scale, wrap, walk), [](std::size_t, ImVec2) {}) + spacing;
}

float answer_verdict_height(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return 0.0f;
  const float below = std::round(row_gap * scale);
  if (!page->answer->chooses()) return wrapped_height(fonts.sans, wrap, "0") + below;
  float most = 0.0f;
  for (std::size_t i = 0; i < walk.words.options.size(); ++i) {
    const bool links = !page->answer->options[i].see.empty();
    most = std::max(most, wrapped_height(fonts.sans, wrap, choice_verdict(walk.words, i)) +
                              (links ? std::round(link_height * scale) : 0.0f));
  }
  return most + below;
}

void draw_answer_controls(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action) {
  switch (walk.shown()->answer->kind) {
    case AnswerKind::choice:
      return draw_options(context, walk, wrap, action);
    case AnswerKind::number:
    case AnswerKind::shape:
      return draw_typed(context, walk, action);
    case AnswerKind::head:
    case AnswerKind::cell:
      return draw_to_point_at(context, walk, wrap, action);
  }
}

void draw_answer_verdict(const PanelContext& context, const PlaylistWalk& walk, float wrap,
                         PanelAction& action) {
  const std::string verdict = answer_verdict(walk);
  if (verdict.empty()) return;
  const WidgetContext widgets = context.widgets();
  ImFont* font = context.fonts.sans;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = wrapped_height(font, wrap, verdict), spacing = ImGui::GetStyle().ItemSpacing.y;
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, im_color(context.palette.text),
                                      with_line_breaks(verdict, font, wrap).c_str(), nullptr, wrap);
  ui_probe("caption/verdict", at, {at.x + wrap, at.y + height});
  ui_says(verdict, at);
  ImGui::Dummy({wrap, height + widgets.px(row_gap) - spacing});
  const std::vector<AnswerOption>& options = walk.shown()->answer->options;
  const std::optional<std::size_t> option = walk.given.option;
  if (!option || options[*option].see.empty() || walk.words.key.option == option) return;
  const std::string label = fitted_text(fmt::format("see “{}”", options[*option].see), context.fonts.small,
                                        wrap - 2 * widgets.px(button_padding));
  if (text_button(widgets, "caption/see", label, ButtonLook::filled)) {
    const std::optional<TitledPage> place = page_titled(walk.playlist, options[*option].see);
    if (place && place->lesson.empty()) action.page = place->page;
    if (place && !place->lesson.empty()) action.lesson = LessonPage{place->lesson, place->page};
  }
  ui_probe_item("caption/see");
  tooltip(widgets, "go to the page about it");
}

bool answer_by_pointing(WindowState& window, const Selection& wanted) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.asking() || !walk.shown()->answer || walk.edits_words || walk.arrival) return false;
  const PageAnswer& answer = *walk.shown()->answer;
  const Selection& now = window.view.selection;
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
  if (!walk.asking() || !walk.shown()->answer || walk.edits_words) return false;
  const int digit = static_cast<int>(chord.key) - static_cast<int>(Key::zero);
  if (chord.ctrl || chord.alt || chord.shift || digit < 0 || digit > 9) return false;
  const AnswerKind kind = walk.shown()->answer->kind;
  if (kind == AnswerKind::cell) return false;
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
