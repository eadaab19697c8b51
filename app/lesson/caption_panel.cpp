#include "app/lesson/caption_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/content/stage_views.h"
#include "app/lesson/page_answers.h"
#include "app/lesson/page_place.h"
#include "app/lesson/page_text.h"
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

namespace headwise {
namespace {

// Design units
constexpr float padding_x = 18, padding_y = 10, side_width = 176, widest_text = 1060;
constexpr float least_beside_side = 120;  // beside the side
constexpr float side_row = 26;            // of its buttons, and of the field of the title
constexpr float least_height = 96, most_height = 260, writing_height = 182;
constexpr int caption_lines = 3;         // of the field for typing a caption
constexpr float presentation_foot = 40;  // below the words in a hall: the number of the page

float wrap_of(float scale, double panel_width) {
  return std::max(static_cast<float>(panel_width) - (side_width + 2 * padding_x) * scale, 80 * scale);
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
  const PageDrawing drawing{context, walk, action};
  PageFlow{fonts, context.scale, widgets.px(side_width), nullptr, &drawing}.text(
      fonts.bold, &Palette::text, fmt::format("page {} of {}", *walk.page + 1, walk.playlist.pages.size()));
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

// The fields in which a page is written.
void put_fields(PageFlow& flow, const PlaylistWalk& shown) {
  for (const StageDifference& difference : stage_differences(shown, false))
    put_difference(flow, flow.fonts.sans, difference);
  if (!flow.drawing) {
    put_answer_editor(flow, shown);
    return flow.keep_more(std::round(flow.px(writing_height + (shown.words_problem.empty() ? 0 : 24))));
  }
  const PanelContext& context = flow.drawing->context;
  PlaylistWalk& walk = flow.drawing->walk;
  const WidgetContext widgets = context;
  PlaylistPage& page = walk.playlist.pages[*walk.page];
  // Not while the menu or the list of commands that added the page is still closing:
  // it would give the focus back.
  if (!walk.words_have_focus && context.focus && context.focus->enabled) {
    walk.words_have_focus = true;
    take_focus(*context.focus, ImGui::GetID("caption"), page.caption.size());
  }
  const auto take = [&](bool changed) {
    if (!changed) return;
    walk.changed = true;
    walk.words_problem.clear();
  };
  const auto field = [&](const char* id, std::string& text, int lines, const char* placeholder) {
    take(text_field(widgets, id, text, {.width = flow.wrap, .lines = lines, .placeholder = placeholder}).changed);
  };
  field("title", page.title, 1, "Heading (optional)");
  named_item(widgets, "caption/title", "title: a heading above the text");
  field("ask", page.ask, 1, "Question to think about first (optional)");
  named_item(widgets, "caption/question",
             "ask: a question; the caption, its answer, appears when Page Down is pressed again");
  take(put_answer_editor(flow, walk));
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

void put_words_now(PageFlow& flow, const PlaylistWalk& walk) {
  put_page_words(flow, walk, flow.wrap, ImGui::GetIO().DisplaySize.y,
                 !walk.answered    ? PageMoment::asks
                 : walk.has_left() ? PageMoment::left
                                   : PageMoment::answered);
}

void draw_presentation_words(const PanelContext& context, PlaylistWalk& walk, PanelAction& action) {
  walk.words_have_focus = false;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const PresentationType type = presentation_type(context.fonts, context.scale,
                                                  {room.x, room.y - presentation_foot * context.scale}, walk);
  PanelContext large = context;
  large.presentation = true;
  large.labels = type_at(context.fonts, context.scale, 18.0f, "");
  const PageDrawing drawing{large, walk, action};
  PageFlow flow{context.fonts, context.scale, room.x, &type, &drawing};
  put_words_now(flow, walk);
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
  if (walk.edits_words) {
    PageFlow flow{fonts, scale, width};
    put_fields(flow, walk);
    return flow.height;
  }
  float height = 0.0f;
  // As high before and after the answer, and while the stage shows something else.
  for (const PageMoment moment : {PageMoment::asks, PageMoment::answered, PageMoment::left}) {
    PageFlow flow{fonts, scale};
    if (moment != PageMoment::asks || !page->ask.empty())
      put_page_words(flow, walk, width, window_height, moment);
    height = std::max(height, flow.height);
  }
  height += 2 * padding_y * scale + 2;
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
  walk.words_have_focus = walk.words_have_focus && walk.edits_words;
  const PageDrawing drawing{context, walk, action};
  PageFlow flow{context.fonts, context.scale, wrap, nullptr, &drawing};
  if (walk.edits_words)
    put_fields(flow, walk);
  else
    put_words_now(flow, walk);
  ImGui::EndGroup();
  return action;
}

}  // namespace headwise
