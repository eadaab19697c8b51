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
#include "app/widgets/fitted_clauses.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/answer_bars.h"
#include "app/window/window_state.h"
#include "core/answers/live_text.h"
#include "core/tensor/join.h"
#include "core/trace/rules.h"

namespace headwise {
namespace {

// Design units; a button is as high and as wide as app/widgets/button.h makes it.
constexpr float button_height = 26, button_padding = 12, row_gap = 6, number_width = 120, link_height = 32;
constexpr Index most_head_buttons = 16;
constexpr const char* answer_hint = "show the answer";
constexpr const char* unreadable_number = "type a number, such as 0.5, 1/8 or 50 %";
constexpr const char* tensor_hint = "or click it on the stage";
constexpr const char* unreadable_shape = "type sizes, such as 2, 3, 5 or N L E";

float wrapped_height(ImFont* font, float wrap, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, with_line_breaks(text, font, wrap).c_str()).y;
}

// The labels of the options, with the digit that chooses each; at the end the one that shows the answer.
std::vector<std::string> labels_of(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk) {
  std::vector<std::string> labels;
  const float room = wrap - 2 * button_padding * scale;
  for (const std::string& option : walk.words.options)
    labels.push_back(fitted_text(fmt::format("{}   {}", labels.size() + 1, option), fonts.small, room));
  if (walk.shown()->answer->kind == AnswerKind::tensor) labels.emplace_back(tensor_hint);
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

// `keyed`: Page Down does the same. What was drawn is given by that key.
bool draw_show_button(const PanelContext& context, bool keyed = true) {
  const bool pressed = text_button(context.widgets(), "caption/answer", answer_hint, ButtonLook::plain);
  ui_probe_item("caption/answer");
  tooltip(context.widgets(), keyed ? fmt::format("without answering ({})", first_key_text(CommandId::next_page))
                                   : "without answering");
  return pressed;
}

// What to do on the stage, in the middle of a line of buttons.
void put_hint(const PanelContext& context, const char* id, const std::string& words) {
  const WidgetContext widgets = context.widgets();
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddText(
      font, font->FontSize, {at.x, at.y + std::round(0.5f * (widgets.px(button_height) - font->FontSize))},
      im_color(context.palette.text_dim), words.c_str());
  ui_probe(id, at, {at.x + width_of(font, words), at.y + widgets.px(button_height)});
  ImGui::Dummy({width_of(font, words), widgets.px(button_height)});
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
    if (i >= walk.words.options.size()) {
      put_hint(context, "caption/point", labels[i]);
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
  put_hint(context, "caption/point", fitted_text(what, font, std::max(0.0f, wrap - widgets.px(140))));
  ImGui::SameLine(0, gap);
  if (draw_show_button(context)) action.command = CommandId::next_page;
}

void draw_bars_controls(const PanelContext& context, PlaylistWalk& walk, PanelAction& action) {
  draw_bars_buttons(context, walk, action);
  const bool untouched = std::ranges::all_of(walk.given.bars, [](double bar) { return bar == 0.0; });
  if (draw_show_button(context, untouched)) {
    walk.given.bars.clear();
    action.command = CommandId::next_page;
  }
}

void draw_mask_controls(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const float gap = std::round(widgets.px(row_gap));
  AnswerMask& mask = walk.given.mask;
  if (text_button(widgets, "caption/give", "answer", ButtonLook::filled, !mask.blocked.empty())) {
    mask.touched = true;  // that no pair is blocked is an answer too
    action.command = CommandId::next_page;
  }
  ui_probe_item("caption/give");
  tooltip(widgets, "submit the pairs you painted, then show the result");
  ImGui::SameLine(0, gap);
  const std::string what =
      fmt::format("paint the blocked pairs on the map, then answer ({}); by keys: Enter, the arrows, Enter",
                  first_key_text(CommandId::next_page));
  put_hint(context, "caption/point",
           fitted_clauses(what, context.fonts.small, std::max(0.0f, wrap - widgets.px(200))));
  ImGui::SameLine(0, gap);
  if (draw_show_button(context, !mask.touched)) {
    mask.touched = false;
    action.command = CommandId::next_page;
  }
}

// The verdict may be as long as this.
std::string longest_verdict(const PlaylistWalk& walk) {
  switch (walk.shown()->answer->kind) {
    case AnswerKind::weights: {
      std::string widest;
      for (const std::string& label : walk.words.weight_labels)
        if (label.size() > widest.size()) widest = label;
      return fmt::format(
          "You drew a row of weights: right, 0.00 of the weight lies at the wrong keys; the largest "
          "difference is at “{}”: you drew 0.00, it is 0.00.",
          widest);
    }
    case AnswerKind::mask:
      return "You blocked 000 of 000 pairs; 000 are wrong, outlined on the map: 000 blocked pairs are "
             "missed, 000 open "
             "pairs are blocked.";
    default:
      return "0";
  }
}

}  // namespace

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
  if (!page->answer->chooses()) return wrapped_height(fonts.sans, wrap, longest_verdict(walk)) + below;
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
    case AnswerKind::tensor:
      return draw_options(context, walk, wrap, action);
    case AnswerKind::weights:
      return draw_bars_controls(context, walk, action);
    case AnswerKind::mask:
      return draw_mask_controls(context, walk, wrap, action);
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
  if (!asks_for_head(walk) || walk.arrival) return false;
  walk.given.head = head;
  walk_pages(window, 1);
  return true;
}

bool answer_by_pointing(WindowState& window, const Selection& wanted) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.asking() || !walk.shown()->answer || walk.edits_words || walk.arrival) return false;
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
  if (!walk.asking() || !walk.shown()->answer || walk.edits_words) return false;
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
