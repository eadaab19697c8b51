#include "app/panels/doc_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/panels/panel_frame.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr float docs_width = 900.0f, text_height = 640.0f;  // design units

ImFont* imgui_font(const Fonts& fonts, DocFont font) {
  switch (font) {
    case DocFont::title:
      return fonts.title;
    case DocFont::strong:
      return fonts.bold;
    case DocFont::code:
      return fonts.mono;
    default:
      return fonts.sans;
  }
}

void lay_out(const WidgetContext& context, DocSheetState& state, float width) {
  const float size = context.fonts.sans->FontSize;
  if (state.of_page == state.page && state.of_width == width && state.of_font == size) return;
  const DocMeasure measure{
      .width_of = [&](std::string_view text,
                      DocFont font) { return width_of(imgui_font(context.fonts, font), text); },
      .line = std::round(1.4f * size)};
  state.layout = doc_layout(doc_pages()[static_cast<std::size_t>(state.page)], width, measure);
  state.of_page = state.page, state.of_width = width, state.of_font = size;
}

// Pressed, by the mouse or with the focus.
bool link_pressed(const WidgetContext& context, const DocWord& word, int index, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(index);
  const auto [box, pressed, hovered, focused] = press_item(context, "link", size);
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (word.lesson.empty()) {
    const DocPage& to = doc_pages()[static_cast<std::size_t>(word.page)];
    named_item(context, "docs/link/" + to.name, fmt::format("go to the page {}", to.title));
  } else {
    named_item(context, fmt::format("docs/lesson/{}", word.lesson),
               fmt::format("go to “{}” in the lessons", word.lesson));
  }
  const float y = std::floor(at.y + context.fonts.sans->FontSize + context.px(2)) + 0.5f;
  const Rgba8 ink = hovered || focused ? context.palette.text : context.palette.text_faint;
  context.painter().line({at.x, y}, {at.x + size.x, y}, ink, context.scale);
  ImGui::PopID();
  return pressed;
}

// At the cursor of the current ImGui window, which scrolls. The word whose link was pressed; null: none.
const DocWord* draw_page(const WidgetContext& context, const DocLayout& layout) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  const float top = paint.list->GetClipRectMin().y, bottom = paint.list->GetClipRectMax().y;
  const float line = std::round(1.4f * context.fonts.sans->FontSize);
  const auto seen = [&](double y, double height) {
    return origin.y + float(y + height) >= top && origin.y + float(y) <= bottom;
  };
  for (const RectF& box : layout.code) {
    if (!seen(box.y, box.height)) continue;
    const ImVec2 from(origin.x, origin.y + float(box.y));
    paint.fill(from, {from.x + float(box.width), from.y + float(box.height)}, palette.field, context.px(4));
  }
  const float right = ImGui::GetContentRegionAvail().x;
  for (const double rule : layout.rules) {
    if (!seen(rule, 1.0)) continue;
    const float y = std::floor(origin.y + float(rule)) + 0.5f;
    paint.line({origin.x, y}, {origin.x + right, y}, palette.border, context.scale);
  }
  const DocWord* pressed = nullptr;
  int index = 0;
  for (const DocWord& word : layout.words) {
    ++index;
    ImFont* font = imgui_font(context.fonts, word.font);
    const ImVec2 at(std::round(origin.x + float(word.x)), std::round(origin.y + float(word.y)));
    // A link has the focus wherever it stands, and is scrolled to.
    if ((word.page >= 0 || !word.lesson.empty()) &&
        link_pressed(context, word, index, at, {float(word.width), line}))
      pressed = &word;
    if (!seen(word.y, 2.0 * line)) continue;
    paint.say(font, at, word.dim ? palette.text_dim : palette.text, word.text);
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1.0f, float(layout.height)});
  return pressed;
}

}  // namespace

bool draw_doc_sheet(const WidgetContext& context, DocSheetState& state) {
  if (!begin_overlay(context, "overlay/docs", "Documentation", state.open, {.width = docs_width}))
    return false;
  const std::optional<DocPlace> wanted = std::exchange(state.wanted, std::nullopt);
  if (wanted) state.page = wanted->page;
  const std::span<const DocPage> pages = doc_pages();
  std::vector<std::string_view> labels;
  for (const DocPage& page : pages) labels.push_back(page.label);
  ImGui::PushFont(context.fonts.small);
  const float room = ImGui::GetContentRegionAvail().x;
  const int before = state.page;
  segmented_control(context, "pages", labels, state.page,
                    {.width = std::min(room, segmented_control_size(context, labels).x)});
  ui_probe_item("docs/pages");
  bool browser = false;
  if (state.browser) {
    const float width = width_of(context.fonts.small, "Open in the browser") + context.px(30);
    if (ImGui::GetItemRectSize().x + width < room) ImGui::SameLine(ImGui::GetCursorPosX() + room - width);
    browser = text_button(context, "browser", "Open in the browser");
    named_item(context, "docs/browser", "open all pages as one document in your web browser");
  }
  ImGui::PopFont();
  ImGui::Dummy({1, context.px(4)});
  const float space = ImGui::GetIO().DisplaySize.y - 2 * context.px(16) - context.px(120);
  if (ImGui::BeginChild("page", {room, std::max(context.px(60), std::min(context.px(text_height), space))})) {
    scroll_by_keys(context);
    if (before != state.page) ImGui::SetScrollY(0.0f);
    lay_out(context, state, ImGui::GetContentRegionAvail().x - context.px(6));
    if (wanted) ImGui::SetScrollY(float(state.layout.tops[wanted->block]));
    if (const DocWord* word = draw_page(context, state.layout); word && !word->lesson.empty()) {
      state.lesson = word->lesson;
    } else if (word) {
      state.page = word->page;
      ImGui::SetScrollY(0.0f);
    }
  }
  ImGui::EndChild();
  end_overlay();
  return browser;
}

}  // namespace headwise
