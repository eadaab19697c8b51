#include "app/widgets/figures_table.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr float column_gap = 22.0f;  // design units
constexpr float longest_bar = 120.0f;

}  // namespace

void draw_figures(const WidgetContext& context, const char* probe, std::span<const FigureColumn> columns,
                  std::span<const FigureRow> rows) {
  ImFont* small = context.fonts.small;
  ImFont* mono = context.fonts.mono_small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float room = ImGui::GetContentRegionAvail().x, gap = context.px(column_gap);
  const float line = std::round(small->FontSize * 1.6f);
  const auto font_of = [&](std::size_t column) { return columns[column].number ? mono : small; };

  std::vector<float> widths;
  float sum = 0.0f;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    float width = width_of(small, columns[c].name);
    for (const FigureRow& row : rows) width = std::max(width, width_of(font_of(c), row.cells[c]));
    widths.push_back(std::ceil(width));
    sum += widths.back() + gap;
  }
  // Too wide: the widest column of names gives way.
  std::size_t widest = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].number && (columns[widest].number || widths[c] > widths[widest])) widest = c;
  }
  if (sum - gap > room) widths[widest] = std::max(context.px(30), widths[widest] - (sum - gap - room));

  const auto draw_cell = [&](ImFont* font, std::size_t c, float x, float y, const std::string& text,
                             Rgba8 color) {
    const std::string fitted = fitted_text(text, font, widths[c]);
    const float at = columns[c].number ? x + widths[c] - width_of(font, fitted) : x;
    list->AddText(font, font->FontSize, {std::floor(at), std::round(y + 0.5f * (line - font->FontSize))},
                  im_color(color), fitted.c_str());
  };
  const auto skip = [&] {
    const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0.0f));
    ImGui::Dummy({room, line});
    ImGui::PopStyleVar();
  };
  ImVec2 at = ImGui::GetCursorScreenPos();
  float x = at.x;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    draw_cell(small, c, x, at.y, std::string(columns[c].name), context.palette.text_dim);
    x += widths[c] + gap;
  }
  skip();
  list->AddLine({at.x, at.y + line - 1}, {at.x + room, at.y + line - 1}, im_color(context.palette.border));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const FigureRow& row = rows[r];
    at = ImGui::GetCursorScreenPos();
    x = at.x;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      draw_cell(font_of(c), c, x, at.y, row.cells[c],
                row.dim ? context.palette.text_dim : context.palette.text);
      // "attn_weights, largest: 0.95"
      ui_says(row.cells[0] + ", " + std::string(columns[c].name) + ": " + row.cells[c], {x, at.y});
      x += widths[c] + gap;
    }
    const float bar = std::min(context.px(longest_bar), at.x + room - x);
    if (row.share > 0.0 && bar > context.px(20)) {
      const float length = std::max(1.0f, bar * static_cast<float>(std::min(row.share, 1.0)));
      list->AddRectFilled({x, at.y + line * 0.28f}, {x + length, at.y + line * 0.72f},
                          im_color(context.palette.bar));
    }
    ui_probe(probe, static_cast<int>(r), at, {at.x + room, at.y + line});
    skip();
  }
}

}  // namespace headwise
