#include "app/window/presenter_notes.h"

#include <fmt/format.h>
#include <imgui.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "app/window/filmstrip.h"

namespace headwise {
namespace {

// Design units
constexpr float clock_width = 176, next_width = 220, column_gap_of_notes = 20, row_gap_of_notes = 4;
constexpr float next_from_width = 700;  // of the strip; a narrower one leaves out what comes next

// "14:05", of the machine's own time.
std::string time_of_day() {
  const time_t now = ::time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}", local.tm_hour, local.tm_min);
}

// Writes a text below the last one, and tells tests where. Returns the y below it.
float write_below(const Type& type, Rgba8 ink, ImVec2 at, float wrap, const std::string& text,
                  const char* name) {
  draw_text_in(ImGui::GetWindowDrawList(), type, at, im_color(ink), wrap, text);
  const float height = size_in(type, wrap, text).y;
  ui_probe(name, at, {at.x + wrap, at.y + height});
  ui_says(text, at);
  return at.y + height;
}

}  // namespace

std::string elapsed_text(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

void draw_presenter_notes(const PanelContext& context, const PlaylistWalk& walk, double seconds) {
  const WidgetContext widgets = context.widgets();
  const Fonts& fonts = context.fonts;
  const Palette& palette = context.palette;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gap = widgets.px(column_gap_of_notes), row = widgets.px(row_gap_of_notes);
  const float clock = widgets.px(clock_width);
  const auto& pages = walk.playlist.pages;

  float y = write_below(own_size(fonts.title), palette.text, origin, clock, time_of_day(), "notes/time");
  y = write_below(own_size(fonts.bold), palette.text, {origin.x, y + row}, clock,
                  elapsed_text(seconds) + " since it began", "notes/elapsed");
  write_below(own_size(fonts.small), palette.text_dim, {origin.x, y + row}, clock,
              fmt::format("page {} of {}", *walk.page + 1, pages.size()), "notes/page");

  const bool shows_next = room.x >= widgets.px(next_from_width);
  const float next = shows_next ? widgets.px(next_width) : 0.0f;
  if (shows_next) {
    const float x = origin.x + room.x - next;
    const std::size_t to = *walk.page + 1;
    const bool asks = walk.asking();
    const std::string words = asks                ? "the answer to this question"
                              : to < pages.size() ? page_name(pages[to], to + 1)
                                                  : "This is the last page.";
    y = write_below(own_size(fonts.small), palette.text_dim, {x, origin.y}, next, "NEXT", "notes/next");
    write_below(own_size(fonts.sans), palette.text, {x, y + row}, next, words, "notes/next_page");
  }

  const float left = origin.x + clock + gap, width = room.x - clock - gap - (next > 0.0f ? next + gap : 0.0f);
  if (width < widgets.px(60)) return;
  ImGui::SetCursorScreenPos({left, origin.y});
  ImGui::BeginChild("notes", {width, room.y});
  const std::string& notes = walk.words.notes;
  const std::string text =
      notes.empty() ? "This page has no notes. “edit” beside its caption has a field for them." : notes;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float wrap = ImGui::GetContentRegionAvail().x - widgets.px(8);
  const Type type = own_size(notes.empty() ? fonts.sans : fonts.caption);
  write_below(type, notes.empty() ? palette.text_dim : palette.text, at, wrap, text, "notes/words");
  ImGui::Dummy({wrap, size_in(type, wrap, text).y});
  ImGui::EndChild();
  // The clock goes on without any event.
  if (context.wake_after)
    *context.wake_after = std::min(*context.wake_after, 1.0 - (seconds - std::floor(seconds)) + 0.01);
}

}  // namespace headwise
