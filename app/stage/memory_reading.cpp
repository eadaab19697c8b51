#include "app/stage/memory_reading.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>

#include "app/panels/named_text.h"
#include "app/platform/fonts.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/measure.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Offsets in the cells if the largest fits; else the first and last of each row.
void draw_offsets(const PanelContext& context, ImDrawList* list, const MemoryReading& reading) {
  const PlaneGeometry& plane = reading.plane;
  const std::vector<Index>& floats = reading.floats();
  const std::vector<Rgba8>& colors = reading.colors();
  ImFont* font = context.fonts.mono_small;
  const float u = context.scale, small = std::round(0.84f * font->FontSize);
  const float cell_width = static_cast<float>(plane.width) / static_cast<float>(plane.cols);
  const float row_height = static_cast<float>(plane.height) / static_cast<float>(plane.rows);
  const std::string largest = std::to_string(reading.scene.floats() - 1);
  const auto fits = [&](float size) {
    return row_height >= size && width_of(font, largest, size) + 2.5f * u <= cell_width;
  };
  const bool each = fits(font->FontSize) || fits(small);
  const bool large = each ? fits(font->FontSize) : row_height >= font->FontSize;
  if (!large && row_height < small) return;
  const float size = large ? font->FontSize : small;
  const auto number = [&](Index row, Index col) {
    return std::to_string(floats[static_cast<std::size_t>(row * plane.cols + col)]);
  };
  const auto y_of = [&](const RectF& cell) {
    return std::floor(static_cast<float>(cell.y + 0.5 * cell.height) - 0.5f * size);
  };
  // On a backing rectangle, because it is wider than its cell.
  const auto at_the_side = [&](Index row, Index col, float x) {
    const std::string text = number(row, col);
    const RectF cell = plane.cell(row, col);
    list->AddRectFilled({x - 2 * u, static_cast<float>(cell.y)},
                        {x + width_of(font, text, size) + 2 * u, static_cast<float>(cell.y + cell.height)},
                        im_color(context.palette.panel, 0.82f));
    list->AddText(font, size, {std::floor(x), y_of(cell)}, im_color(context.palette.text), text.c_str());
  };
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; each && col < plane.cols; ++col) {
      const RectF cell = plane.cell(row, col);
      const std::string text = number(row, col);
      const float x = static_cast<float>(cell.x + 0.5 * cell.width) - 0.5f * width_of(font, text, size);
      const Rgba8 ink = ink_on(colors[static_cast<std::size_t>(row * plane.cols + col)]);
      list->AddText(font, size, {std::floor(x), y_of(cell)}, im_color(ink), text.c_str());
    }
    if (each) continue;
    at_the_side(row, 0, static_cast<float>(plane.x) + 2 * u);
    const float width = width_of(font, number(row, plane.cols - 1), size);
    if (static_cast<float>(plane.width) > 3.0f * width && plane.cols > 1)
      at_the_side(row, plane.cols - 1, static_cast<float>(plane.x + plane.width) - width - 2 * u);
  }
}

// "float 405 is q[0,3,21]: n't, head 1".
std::string owner_words(const PanelContext& context, const MemoryScene& scene, Index first_float) {
  const MemoryOrder& order = scene.order;
  const std::vector<Index> source = from_layout(order.source, cell_of(order.states, 0, first_float));
  std::string text = fmt::format("float {} is {}[{}]", first_float, tensor_entry(order.source.tensor).name,
                                 join(source, ","));
  const Shape& shape = context.trace.tensor(order.source.tensor)->shape();
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string& axis = shape.axes()[i].name;
    const TokenLabels& labels = context.inputs.labels;
    const std::vector<std::string>* tokens = axis == "L"                   ? &labels.query
                                             : axis == "S" || axis == "S′" ? &labels.key
                                                                           : nullptr;
    if (tokens && source[i] < static_cast<Index>(tokens->size()) && text.find(':') == std::string::npos)
      text += ": " + drawable_text((*tokens)[static_cast<std::size_t>(source[i])], context.fonts.mono_small);
  }
  const std::optional<Index> head = head_of_float(order, first_float);
  return head ? fmt::format("{}, head {}", text, *head) : text;
}

}  // namespace

void draw_reading_cells(const PanelContext& context, const MemoryReading& reading) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const PlaneGeometry& plane = reading.plane;
  const std::vector<Rgba8>& colors = reading.colors();
  const bool cells = plane.width >= 5 * static_cast<int>(plane.cols);
  for (Index row = 0; row < plane.rows; ++row) {
    const auto color_of = [&](Index col) { return colors[static_cast<std::size_t>(row * plane.cols + col)]; };
    for (Index col = 0; col < plane.cols;) {
      Index end = col + 1;
      while (!cells && end < plane.cols && color_of(end) == color_of(col)) ++end;
      const RectF rect = plane.rect({row, row + 1, col, end});
      list->AddRectFilled({static_cast<float>(rect.x), static_cast<float>(rect.y)},
                          {static_cast<float>(rect.x + rect.width),
                           static_cast<float>(rect.y + rect.height) - (plane.gap > 0 ? 0.0f : 1.0f)},
                          im_color(color_of(col)));
      col = end;
    }
  }
  draw_offsets(context, list, reading);
  if (reading.looked_at) {
    const Rgba8 color = reading.wrong ? context.palette.warning : context.palette.focus;
    draw_box_outline(context.widgets(), list, plane, *reading.looked_at, im_color(color),
                     std::max(2.0f, std::round(2.0f * context.palette.stroke * context.scale)));
  }
}

void draw_reading_words(const PanelContext& context, const MemoryReading& reading, float width,
                        bool says_owner) {
  const MemoryScene& scene = reading.scene;
  const MemoryWindow& window = reading.window;
  const PlaneGeometry& plane = reading.plane;
  const bool wrong = reading.wrong;
  const Palette& palette = context.palette;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* mono = context.fonts.mono_small;
  ImFont* small = context.fonts.small;
  const float line = std::round(mono->FontSize * 1.3f), x = static_cast<float>(plane.x);
  const float title = static_cast<float>(plane.y) - line - 2.0f * context.scale;
  const std::string leading =
      scene.matrix.leading.empty() ? "" : fmt::format("[{}]", join(scene.matrix.leading, ","));
  const std::string name = wrong ? scene.order.wrong_code + leading : matrix_name(scene.matrix);
  const std::string fitted = fitted_text(name, mono, width);
  list->AddText(mono, mono->FontSize, {x, title},
                im_color(wrong ? palette.warning : tensor_hue(palette, scene.matrix.name.id)), fitted.c_str());
  float end = x + width_of(mono, fitted) + 7.0f * context.scale;
  if (wrong) {
    const auto& right = window.right;
    const auto same = std::ranges::count(std::views::iota(std::size_t{0}, right.size()), true,
                                         [&](std::size_t i) { return right[i] == window.wrong[i]; });
    const std::string verdict = fmt::format("{} of {} correct", same, right.size());
    if (width_of(small, verdict) <= x + width - end)
      list->AddText(small, small->FontSize, {end, title}, im_color(palette.text_dim), verdict.c_str());
  } else {
    name_tensor(context, scene.matrix.name, {x, title}, {end, title + mono->FontSize + 3.0f});
    std::string sizes = matrix_sizes(scene.matrix);
    if (window.rows < scene.matrix.view.rows)
      sizes += fmt::format(", rows {} to {}", window.row_begin, window.row_begin + window.rows - 1);
    if (window.cols < scene.matrix.view.cols)
      sizes += fmt::format(", columns {} to {}", window.col_begin, window.col_begin + window.cols - 1);
    if (width_of(mono, sizes) <= x + width - end)
      draw_shape_text(context, list, mono, {end, title}, palette.text_dim, sizes);
  }
  const auto& states = wrong ? scene.order.wrong : scene.order.states;
  float y = static_cast<float>(plane.y + plane.height) + 4.0f * context.scale;
  auto formulas = offset_formulas(states, scene.cell);
  const bool all_fit =
      std::ranges::all_of(formulas, [&](const std::string& each) { return width_of(mono, each) <= width; });
  if (!all_fit) formulas = offset_formulas(states, scene.cell, false);
  for (const std::string& formula : formulas) {
    list->AddText(mono, mono->FontSize, {x, y}, im_color(wrong ? palette.warning : palette.text),
                  fitted_text(formula, mono, width).c_str());
    y += line;
  }
  if (!says_owner) return;
  const Index shown = wrong ? float_of(states, states.size() - 1, scene.cell) : scene.first_float;
  list->AddText(mono, mono->FontSize, {x, y}, im_color(palette.text_dim),
                fitted_text(owner_words(context, scene, shown), mono, width).c_str());
}

}  // namespace headwise
