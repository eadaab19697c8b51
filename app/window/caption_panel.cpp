#include "app/window/caption_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/content/stage_views.h"
#include "app/session/commands.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/answer_bars.h"
#include "app/window/answer_editor.h"
#include "app/window/page_answers.h"
#include "app/window/page_place.h"
#include "app/window/page_text.h"

namespace headwise {
namespace {

// Design units
constexpr float padding_x = 18, padding_y = 10, side_width = 176, widest_text = 1060;
constexpr float least_beside_side = 120;  // beside the side
constexpr float side_row = 26;            // of its buttons, and of the field of the title
constexpr float least_height = 96, most_height = 260, writing_height = 182;
constexpr int caption_lines = 3;         // of the field for typing a caption
constexpr double low_window = 640;       // like a projector's window, 1280×720 with its larger text
constexpr float most_large_lines = 3;    // of text in large type, in a low window
constexpr float presentation_foot = 40;  // below the words in a hall: the number of the page

float wrap_of(float scale, double panel_width) {
  return std::max(static_cast<float>(panel_width) - (side_width + 2 * padding_x) * scale, 80 * scale);
}

float text_height(ImFont* font, float wrap, const std::string& text) {
  return size_in(own_size(font), wrap, text).y;
}

void put_text(const Type& type, Rgba8 ink, float wrap, const std::string& text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text_in(ImGui::GetWindowDrawList(), type, at, im_color(ink), wrap, text);
  ImGui::Dummy({wrap, size_in(type, wrap, text).y});
}

void put_text(ImFont* font, Rgba8 ink, float wrap, const std::string& text) {
  put_text(own_size(font), ink, wrap, text);
}

// At the end of the line that counts the pages, in the room between the lines:
// shows or hides them as small pictures.
void draw_pages_button(const PanelContext& context, ImVec2 line, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const float width = std::ceil(width_of(context.fonts.small, "pages") + 2 * widgets.px(12));
  const float above = std::round(0.5f * (widgets.px(26) - context.fonts.bold->FontSize));
  ImGui::SetCursorScreenPos({line.x + widgets.px(side_width - 16) - width, line.y - above});
  if (text_button(widgets, "caption/pages", "pages", ButtonLook::plain))
    action.command = CommandId::filmstrip;
  named_item(widgets, "caption/pages", label_with_keys(CommandId::filmstrip));
}

// The playlist's title, with the way to begin it again once answers were given;
// or the way back to the page whose link led here.
void draw_side_title(const PanelContext& context, const PlaylistWalk& walk, const std::string& title,
                     PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = widgets.px(side_width - 16);
  if (walk.followed_from) {
    if (text_link(widgets, "caption/follow_back", fmt::format("back to page {}", *walk.followed_from + 1),
                  label_with_keys(CommandId::go_back)))
      action.command = CommandId::go_back;
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, font->FontSize});
    return;
  }
  float room = width;
  if (!walk.kept.empty()) {
    constexpr std::string_view again = "start over";
    const float link = text_link_width(widgets, again);
    room -= link + widgets.px(8);
    ImGui::SetCursorScreenPos({at.x + width - link, at.y});
    if (text_link(widgets, "caption/start_over", again, command_entry(CommandId::start_over).what))
      action.command = CommandId::start_over;
  }
  ImGui::SetCursorScreenPos(at);
  const std::string shown = fitted_text(title, font, room);
  context.painter().say(font, at, context.palette.text_dim, shown);
  ImGui::Dummy({room, font->FontSize});
  if (shown != title) tooltip(widgets, title);
}

void draw_side(const PanelContext& context, PlaylistWalk& walk, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const Fonts& fonts = context.fonts;
  const std::string title = walk.playlist.title.empty() ? "playlist" : walk.playlist.title;
  if (walk.edits_words) {
    if (text_field(widgets, "lesson", walk.playlist.title,
                   {.width = widgets.px(side_width - 24), .small = true, .placeholder = "playlist title"})
            .changed)
      walk.changed = true;
    ui_probe_item("caption/playlist_title");
  } else {
    draw_side_title(context, walk, title, action);
  }
  const ImVec2 counted = ImGui::GetCursorScreenPos();
  put_text(fonts.bold, context.palette.text, widgets.px(side_width),
           fmt::format("page {} of {}", *walk.page + 1, walk.playlist.pages.size()));
  const ImVec2 below = ImGui::GetCursorScreenPos();
  draw_pages_button(context, counted, action);
  ImGui::SetCursorScreenPos(below);
  ImGui::Dummy({1, widgets.px(4)});
  const float side = std::round(widgets.px(side_row));
  const auto step = [&](const char* id, ButtonSign sign, CommandId command, bool enabled) {
    if (sign_button(widgets, id, sign, side, "", enabled)) action.command = command;
    named_item(widgets, id, label_with_keys(command));
    ImGui::SameLine(0, widgets.px(2));
  };
  step("caption/back", ButtonSign::back, CommandId::previous_page, *walk.page > 0);
  step("caption/forward", ButtonSign::forward, CommandId::next_page,
       *walk.page + 1 < walk.playlist.pages.size());
  if (text_button(widgets, "caption/edit", walk.edits_words ? "done" : "edit", ButtonLook::plain)) {
    if (words_are_readable(walk, LiveSubject(context.trace, &context.scenario, &context.inputs))) {
      walk.edits_words = !walk.edits_words;
      if (!walk.edits_words) ImGui::SetScrollY(0.0f);  // its fields may have been scrolled
      // What was written is tried at once: the page asks as it will ask a class.
      if (!walk.edits_words && walk.shown()->answer) action.command = CommandId::take_back_answer;
    }
  }
  named_item(widgets, "caption/edit",
             "edit the title, question and caption of this page; “Save playlist…” saves them");
  ImGui::SameLine(0, widgets.px(2));
  if (text_button(widgets, "caption/leave", "leave", ButtonLook::plain))
    action.command = CommandId::leave_playlist;
  named_item(widgets, "caption/leave", "back to your own scenario (Esc)");
}

// In a low window the answer replaces the question, so that the stage keeps those lines.
bool answer_replaces_question(float scale, double window_height) {
  return window_height < low_window * scale;
}

// In a low window the stage needs the space that long texts would take in large type.
ImFont* words_font(const Fonts& fonts, float scale, float wrap, double window_height, const PlaylistWalk& walk) {
  if (!answer_replaces_question(scale, window_height)) return fonts.caption;
  const float longest = std::max(text_height(fonts.caption, wrap, walk.words.ask),
                                 text_height(fonts.caption, wrap, walk.words.caption));
  return longest > most_large_lines * fonts.caption->FontSize + 1.0f ? fonts.sans : fonts.caption;
}

// Beside its words where that line has room for it, else below them.
bool has_way_back_beside(float scale, const Type& type, float wrap, const StageDifference& difference) {
  return width_in(type, difference.words) + 12 * scale +
             button_shape(scale, type, wrap, difference.way_back).size.x <=
         wrap;
}

// Before a caption while the stage shows something else, or in its place:
// it would be read as if it were about that.
void draw_difference(const PanelContext& context, float wrap, const Type& type,
                     const StageDifference& difference, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  put_text(type, context.palette.text_dim, wrap, difference.words);
  ui_probe_item(difference.place ? "caption/elsewhere" : "caption/changed");
  ui_text_probe(difference.words, at);
  const auto shape = button_shape(context.scale, type, wrap, difference.way_back);
  if (has_way_back_beside(context.scale, type, wrap, difference))
    ImGui::SetCursorScreenPos({at.x + width_in(type, difference.words) + widgets.px(12),
                               std::round(at.y + 0.5f * (type.size - shape.size.y))});
  const char* id = difference.place ? "caption/back_to_page" : "caption/restore";
  if (wrapped_button(widgets, id, difference.way_back, shape, ButtonLook::filled)) {
    if (difference.place)
      action.returns_to_page = true;
    else
      action.command = CommandId::restore_page;
  }
  named_item(widgets, id,
             difference.place ? "shows again what this page is about; your changes stay"
                              : label_with_keys(CommandId::restore_page));
}

// The question, if the page asks one, and the caption that answers it. `hall`: its type; null: not in a hall.
void draw_words(const PanelContext& context, PlaylistWalk& walk, float width,
                const PresentationType* presentation, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  const float wrap = words_beside_bars(context.scale, width, walk);
  const BarsRoom room = answer_bars_room(context.scale, width, walk, presentation != nullptr);
  if (room.beside > 0.0f) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({at.x + width - room.beside, at.y});
    draw_answer_bars(context, walk, {room.beside, room.height}, action);
    ImGui::SetCursorScreenPos(at);
  }
  const PlaylistPage& page = *walk.shown();
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  const double window_height = ImGui::GetIO().DisplaySize.y;
  ImFont* usual = words_font(context.fonts, context.scale, wrap, window_height, walk);
  const auto type = [&](const std::string& text) {
    return presentation ? type_at(context.fonts, context.scale, presentation->words, text) : own_size(usual);
  };
  const PresentationUnits units = presentation ? presentation->words : 0;
  const bool has_answer = !walk.words.caption.empty() || page.answer;
  const bool replaced =
      !presentation && walk.answered && has_answer && answer_replaces_question(context.scale, window_height);
  const bool asks = !walk.words.ask.empty() && !replaced;
  if (!page.title.empty()) {
    put_text(presentation ? heading_type(context.fonts, context.scale, *presentation, page.title)
                          : own_size(context.fonts.title),
             context.palette.text, wrap, page.title);
    ui_probe_item("caption/heading");
    ImGui::Dummy({1, widgets.px(below_title) - gap});
  }
  if (asks) {
    put_text(type(walk.words.ask), walk.answered ? context.palette.text_dim : context.palette.text, wrap,
             walk.words.ask);
    ui_probe_item("caption/ask");
    ImGui::Dummy({1, widgets.px(below_question) - gap});
  }
  if (room.below > 0.0f) draw_answer_bars(context, walk, {wrap, room.height}, action);
  const std::vector<StageDifference> differences = stage_differences(walk, presentation != nullptr);
  for (const StageDifference& difference : differences) {
    draw_difference(context, wrap, type(difference.words), difference, action);
    ImGui::SetCursorPosY(std::round(ImGui::GetCursorPosY() + widgets.px(4)));
  }
  const Rgba8 ink = differences.empty() ? context.palette.text : context.palette.text_dim;
  if (walk.arrival) {  // it can neither be answered nor judged yet
    if (walk.answered) put_text(type(walk.words.caption), ink, wrap, walk.words.caption);
  } else if (walk.answered) {
    if (walk.departure && walk.departure->elsewhere) return;
    draw_answer_verdict(context, walk, wrap, ink, action, units);
    put_text(type(walk.words.caption), ink, wrap, walk.words.caption);
    ui_probe_item("caption/words");
  } else if (page.answer) {
    draw_answer_controls(context, walk, wrap, action, units);
  } else {
    const Type hint = presentation ? type(answer_hint) : own_size(context.fonts.small);
    if (wrapped_button(widgets, "caption/answer", answer_hint,
                       button_shape(context.scale, hint, wrap, answer_hint), ButtonLook::plain))
      action.answers = true;
    named_item(
        widgets, "caption/answer",
        fmt::format("think first; then press this, or {}, to see it", first_key_text(CommandId::next_page)));
  }
}

void write_words(const PanelContext& context, PlaylistWalk& walk, float wrap, PanelAction& action) {
  const WidgetContext widgets = context.widgets();
  for (const StageDifference& difference : stage_differences(walk, false))
    draw_difference(context, wrap, own_size(context.fonts.sans), difference, action);
  PlaylistPage& page = walk.playlist.pages[*walk.page];
  // Not while the menu or the list of commands that added the page is still closing:
  // it would give the focus back.
  if (!walk.words_have_focus && context.focus && context.focus->enabled) {
    walk.words_have_focus = true;
    take_focus(*context.focus, ImGui::GetID("caption"), page.caption.size());
  }
  const auto field = [&](const char* id, std::string& text, int lines, const char* placeholder) {
    if (text_field(widgets, id, text, {.width = wrap, .lines = lines, .placeholder = placeholder}).changed) {
      walk.changed = true;
      walk.words_problem.clear();
    }
  };
  field("title", page.title, 1, "Heading (optional)");
  named_item(widgets, "caption/title", "title: a heading above the text");
  field("ask", page.ask, 1, "Question to think about first (optional)");
  named_item(widgets, "caption/question",
             "ask: a question; the caption, its answer, appears when Page Down is pressed again");
  if (draw_answer_editor(context, walk.playlist, page, wrap)) {
    walk.changed = true;
    walk.words_problem.clear();
  }
  field("notes", page.notes, 1, "Notes for the presenter (optional)");
  named_item(widgets, "caption/notes",
             fmt::format("notes: shown with a clock below the stage ({}), never on a slide",
                         first_key_text(CommandId::presenter_notes)));
  field("caption", page.caption, caption_lines,
        "the text of this page; {max scores[0,0,2,:]} shows a live number");
  ui_probe_item("caption/text");
  tooltip(
      widgets,
      "caption: plain text. Braces hold live numbers: {scores[0,0,8,1]}, {sum …}, {mean …}, {max …}, {E}");
  if (!walk.words_problem.empty()) error_line(widgets, walk.words_problem);
}

// "3 of 6 · Page Down goes on, Esc leaves full screen": as much of it as there is room for. On the last page
// nothing goes on. In a lesson that was visited from one's own pages the way back to them comes first, and on
// a page to which a link led, the way back to where it was followed. While a page is on its way Escape
// cancels that.
std::string presentation_foot_text(const PlaylistWalk& walk, bool on_map, ImFont* font, float room) {
  const std::string back = "Esc: arrows turn pages again";
  if (on_map)
    return width_of(font, cells_have_keys) <= room ? cells_have_keys : fitted_text(back, font, room);
  const std::size_t pages = walk.playlist.pages.size();
  const bool waits = walk.words.gives_up;
  const bool last = *walk.page + 1 == pages && (walk.answered || waits);
  const std::string count = fmt::format("{} of {}{}", *walk.page + 1, pages, last ? ", the last page" : "");
  const bool has_next = !last, visits = !waits && (walk.interrupted || walk.followed_from);
  const std::string next = fmt::format("{} goes on", first_key_text(CommandId::next_page));
  const std::string leaves =
      waits ? "Esc cancels"
      : walk.followed_from
          ? fmt::format("{} leads back to page {}", first_key_text(CommandId::go_back), *walk.followed_from + 1)
      : visits ? fmt::format("{} leads back to your pages", first_key_text(CommandId::walk_playlist))
               : "Esc leaves full screen";
  const std::string shorter = fmt::format("{} · {}", count, has_next && !visits ? next : leaves);
  const std::string all = has_next ? fmt::format("{} · {}, {}", count, next, leaves) : shorter;
  for (const std::string& text : {all, shorter, visits ? leaves : count})
    if (width_of(font, text) <= room) return text;
  return fitted_text(count, font, room);
}

void draw_presentation_words(const PanelContext& context, PlaylistWalk& walk, PanelAction& action) {
  walk.words_have_focus = false;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const PresentationType type = presentation_type(context.fonts, context.scale, room.x,
                                                  room.y - presentation_foot * context.scale, walk);
  PanelContext large = context;
  large.presentation = true;
  large.labels = type_at(context.fonts, context.scale, 18.0f, "");
  draw_words(large, walk, room.x, &type, action);
  ImFont* font = context.fonts.small;
  const ImVec2 panel = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const ImVec2 at{std::floor(panel.x + padding_x * context.scale),
                  std::floor(panel.y + size.y - font->FontSize - padding_y * context.scale)};
  const float line = size.x - 2 * padding_x * context.scale;
  const float link = draw_take_back_link(large.widgets(), walk, {at.x + line, at.y - context.px(2)}, action);
  const bool on_map = context.focus && focuses_map(*context.focus);
  const std::string shown =
      presentation_foot_text(walk, on_map, font, line - link - (link > 0.0f ? 12 * context.scale : 0.0f));
  const Box box = context.painter().say(font, at, context.palette.text_dim, shown);
  ui_probe("caption/page", box.min, box.max);
}

}  // namespace

double caption_height(const Fonts& fonts, float scale, double window_width, double window_height,
                      const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page) return 0.0;
  const float width = std::min(wrap_of(scale, window_width - 24 * scale), widest_text * scale);
  const float spacing = ImGui::GetStyle().ItemSpacing.y;  // ImGui's own, below each text
  const auto difference_height = [&](const StageDifference& difference, const Type& type, float wrap) {
    const float below = has_way_back_beside(scale, type, wrap, difference)
                            ? 0.0f
                            : spacing + button_shape(scale, type, wrap, difference.way_back).size.y;
    return std::max(restore_height * scale, size_in(type, wrap, difference.words).y + below + spacing);
  };
  if (walk.edits_words) {
    float height = std::round((writing_height + (walk.words_problem.empty() ? 0 : 24)) * scale) +
                   answer_editor_height(scale, width, *page);
    for (const StageDifference& difference : stage_differences(walk, false))
      height += difference_height(difference, own_size(fonts.sans), width);
    return height;
  }
  const float wrap = words_beside_bars(scale, width, walk);
  float height = text_height(fonts.title, wrap, page->title) + 2 * padding_y * scale + 2;
  ImFont* font = words_font(fonts, scale, wrap, window_height, walk);
  const float answer = text_height(font, wrap, walk.words.caption);
  const float question = walk.words.ask.empty()
                             ? 0.0f
                             : text_height(font, wrap, walk.words.ask) + below_question * scale + spacing;
  const float controls = answer_controls_height(fonts, scale, wrap, walk),
              verdict = answer_verdict_height(fonts, scale, wrap, walk);
  float differences = 0.0f;
  for (const StageDifference& difference : stage_differences(walk, false))
    differences += difference_height(difference, own_size(font), wrap) + 4 * scale + spacing;
  float words = verdict + answer;
  if (walk.departure && walk.departure->elsewhere && walk.answered)
    words = std::max(words, differences);  // in place of the caption
  else
    height += differences;
  if (answer_replaces_question(scale, window_height)) {
    const float to_show = page->answer ? controls : restore_height * scale;
    height += std::max(words, question > 0.0f ? question + to_show : 0.0f);
  } else {
    height += question + std::max(words, controls);
  }
  if (!page->title.empty()) height += below_title * scale + spacing;
  const BarsRoom room = answer_bars_room(scale, width, walk);
  if (room.beside > 0.0f) height = std::max(height, room.height + 2 * padding_y * scale + 2);
  if (room.below > 0.0f) height += room.height + spacing;
  return std::round(std::clamp(height, least_height * scale, most_height * scale));
}

PanelAction draw_caption(const PanelContext& context, PlaylistWalk& walk, bool presentation) {
  PanelAction action;
  if (!walk.page) return action;
  const WidgetContext widgets = context.widgets();
  if (presentation && !walk.edits_words) {
    draw_presentation_words(context, walk, action);
    return action;
  }
  if (!walk.edits_words)
    walk.typing_in_caption = true;
  else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    walk.typing_in_caption = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  const float side = std::round(widgets.px(side_width));
  // In a column beside the stage the words stand below, in a wide panel to the right.
  const bool column =
      !walk.edits_words && ImGui::GetWindowContentRegionWidth() < side + widgets.px(least_beside_side);
  const ImVec2 top = ImGui::GetCursorPos();
  // At the lower end of a wide panel, wherever its fields are scrolled to: its height is each page's own, and
  // what turns the pages stays under the mouse.
  if (!column) {
    const float title = walk.edits_words ? widgets.px(side_row) : context.fonts.small->FontSize;
    const float high =
        title + context.fonts.bold->FontSize + widgets.px(4 + side_row) + 3 * ImGui::GetStyle().ItemSpacing.y;
    ImGui::SetCursorPosY(top.y + std::max(0.0f, ImGui::GetContentRegionAvail().y - high) + ImGui::GetScrollY());
  }
  ImGui::BeginGroup();
  draw_side(context, walk, action);
  ImGui::EndGroup();

  if (column) {
    ImGui::Dummy({1, widgets.px(6)});
  } else {
    ImGui::SetCursorPos({top.x + side, top.y});
  }
  const float wrap = std::min(ImGui::GetContentRegionAvail().x, widgets.px(widest_text));
  if (wrap < widgets.px(60)) {
    walk.words_have_focus = walk.edits_words;  // there is no field for what is typed
    return action;
  }
  ImGui::BeginGroup();
  if (!walk.edits_words) walk.words_have_focus = false;
  if (walk.edits_words) {
    write_words(context, walk, wrap, action);
  } else {
    draw_words(context, walk, wrap, nullptr, action);
  }
  ImGui::EndGroup();
  return action;
}

}  // namespace headwise
