#include "app/stage/stage_cells.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/named_text.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Controls next to the maps may have the same names.
ImGuiID map_id(std::string_view name) {
  return ImGui::GetID(fmt::format("cells/{}", name).c_str());
}

constexpr std::size_t most_entries = 2;  // as many lines as the strip and its ticks are high

constexpr float legend_beside_units = 28.0f;  // between the last bar and the legend
constexpr float legend_side_units = 14.0f, legend_gap_units = 6.0f;

void add_contents(HeatmapContents& sum, const HeatmapContents& more) {
  sum.values += more.values;
  sum.blocked += more.blocked;
  sum.blocked_values += more.blocked_values;
  sum.nans += more.nans;
  sum.minus_infs += more.minus_infs;
  sum.plus_infs += more.plus_infs;
}

class AxisLight {
 public:
  AxisLight(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane)
      : context_(context), part_(part), plane_(plane), letter_(context.pointed->axis) {
    min_ = {float(plane.x), float(plane.y)};
    max_ = {float(plane.x + plane.width), float(plane.y + plane.height)};
  }

  void draw() const {
    bool drawn = false;
    if (axis_has_letter(part_.matrix.col_axis, letter_)) {
      along(true, part_.matrix.col_axis, part_.col_block, plane_.cols);
      drawn = true;
    }
    if (!part_.matrix.row_axis.empty() && axis_has_letter(part_.matrix.row_axis, letter_)) {
      along(false, part_.matrix.row_axis, part_.row_block, plane_.rows);
      drawn = true;
    }
    if (!drawn) leading();
  }

 private:
  // A line along the top or the left side, from index `begin` to `end`, with ends that turn inwards.
  void bracket(bool across, Index begin, Index end, Index block) const {
    const Painter paint = context_.painter();
    const float thick = std::max(2.0f, std::round(3.0f * context_.scale)), turn = 4.0f * context_.scale;
    const ImU32 color = im_color(context_.palette.focus);
    const auto line = [&](ImVec2 a, ImVec2 b) {
      paint.fill({a.x - 1, a.y - 1}, {b.x + 1, b.y + 1}, context_.palette.panel);
      paint.fill(a, b, color);
    };
    const auto place = [&](Index i) {
      const Index count = across ? plane_.cols : plane_.rows;
      const float length = across ? max_.x - min_.x : max_.y - min_.y;
      const float start = across ? min_.x : min_.y;
      return std::round(start + length * float(i) / float(std::max<Index>(count, 1)));
    };
    const float from = place(begin), to = place(end);
    // At a place along the side, so far into the matrix.
    const auto at = [&](float along, float inwards) {
      return across ? ImVec2(along, min_.y + inwards) : ImVec2(min_.x + inwards, along);
    };
    line(at(from, -thick), at(to, 0.0f));
    std::vector<Index> ticks{begin, end};
    for (Index i = block > 0 ? begin + block : end; i < end; i += block) ticks.push_back(i);
    for (const Index i : ticks) {
      const float tick = i == end ? place(i) - thick : place(i);
      line(at(tick, -thick), at(tick + thick, turn));
    }
    const float middle = 0.5f * (from + to);
    const Index size = block > 0 ? (end - begin) / block : end - begin;
    label(at(middle, turn), across, fmt::format("{} {}", letter_, size));
  }

  // At the middle of the side that it describes, on the cells.
  void label(ImVec2 at, bool under, const std::string& text) const {
    ImFont* font = context_.fonts.mono_small;
    const float pad = 3.0f * context_.scale;
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str());
    ImVec2 min(under ? at.x - 0.5f * size.x - pad : at.x, under ? at.y : at.y - 0.5f * size.y - pad);
    min = {std::floor(min.x), std::floor(min.y)};
    const Painter paint = context_.painter();
    paint.fill(min, {min.x + size.x + 2 * pad, min.y + size.y + 2 * pad}, context_.palette.control, pad);
    paint.text(font, {min.x + pad, min.y + pad}, context_.palette.focus, text);
  }

  void along(bool across, const std::string& axis, Index block, Index count) const {
    const bool joined = axis != letter_ && block > 0 && block < count;
    if (!joined) return bracket(across, 0, count, 0);
    const bool heads = letter_ == "H" || letter_ == "G";
    if (heads) return bracket(across, 0, count, block);
    const Index blocks = count / block;
    const Index per_block = std::max<Index>(1, context_.trace.options.num_heads / std::max<Index>(1, blocks));
    const Index chosen = std::min(context_.selection.head / per_block, blocks - 1);
    bracket(across, chosen * block, (chosen + 1) * block, 0);
  }

  void leading() const {
    const Shape& shape = part_.matrix.view.tensor->shape();
    for (std::size_t i = 0; i < part_.matrix.leading.size(); ++i) {
      const Axis& axis = shape.axes()[i];
      if (!axis_has_letter(axis.name, letter_)) continue;
      const float thick = context_.hairline();
      context_.painter().outline(Box(min_, max_).grown(thick), context_.palette.focus, thick);
      label({0.5f * (min_.x + max_.x), min_.y}, true,
            fmt::format("{} {} of {}", axis.name, part_.matrix.leading[i], axis.size));
      return;
    }
  }

  const PanelContext& context_;
  const StagePart& part_;
  const PlaneGeometry& plane_;
  const std::string& letter_;
  ImVec2 min_, max_;
};

}  // namespace

std::optional<std::pair<Index, Index>> pointed_plane_cell(const PanelContext& context, std::string_view name,
                                                          const PlaneGeometry& plane,
                                                          std::pair<Index, Index> first) {
  const auto whole = [](Index index) { return static_cast<int>(index); };
  const ImGuiID id = map_id(name);
  const auto reached =
      focus_map(context.focus, id, corner(plane), far_corner(plane), {whole(plane.rows), whole(plane.cols)},
                {whole(first.first), whole(first.second)});
  if (reached) return std::pair<Index, Index>(reached->first, reached->second);
  if (keys_decide(context) || !ImGui::IsWindowHovered()) return std::nullopt;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return plane.cell_at(mouse.x, mouse.y);
}

std::optional<CellRef> pointed_cell(const PanelContext& context, std::string_view name, const StagePart& part,
                                    const PlaneGeometry& plane) {
  std::pair<Index, Index> first{0, 0};
  if (const auto& pinned = context.selection.pinned) {
    if (const auto box = drawn_box(part.matrix, box_of(*pinned))) first = {box->row_begin, box->col_begin};
  }
  const auto cell = pointed_plane_cell(context, name, plane, first);
  if (!cell) return std::nullopt;
  return cell_at(part.matrix, cell->first, cell->second);
}

std::optional<Index> line_reached(const PanelContext& context, std::string_view name, const RectF& lines,
                                  Index count) {
  const ImVec2 min(float(lines.x), float(lines.y));
  const ImVec2 max(min.x + float(lines.width), min.y + float(lines.height));
  const ImGuiID id = map_id(name);
  const auto reached = focus_map(context.focus, id, min, max, {static_cast<int>(count), 1}, {0, 0});
  if (!reached) return std::nullopt;
  return Index{reached->first};
}

bool keys_decide(const PanelContext& context) {
  return context.mouse_rests || (context.focus && context.focus->by_keys);
}

std::vector<std::pair<Index, Index>> cells_between(std::pair<Index, Index> from, std::pair<Index, Index> to) {
  const Index rows = to.first - from.first, columns = to.second - from.second;
  const Index steps = std::max<Index>({std::abs(rows), std::abs(columns), 1});
  std::vector<std::pair<Index, Index>> cells;
  for (Index i = 0; i <= steps; ++i) {
    const auto part = [&](Index all) {
      return static_cast<Index>(std::lround(static_cast<double>(all * i) / static_cast<double>(steps)));
    };
    cells.emplace_back(from.first + part(rows), from.second + part(columns));
  }
  return cells;
}

bool cell_pressed(const PanelContext& context) {
  return ImGui::IsMouseClicked(ImGuiMouseButton_Left) || (context.focus && context.focus->cell_pressed);
}

bool cell_held(const PanelContext& context) {
  return ImGui::IsMouseDown(ImGuiMouseButton_Left) || (context.focus && context.focus->cell_held);
}

void CellLegend::update(std::span<const HeatmapSpec* const> specs) {
  if (specs.empty()) return entries.clear();
  const HeatmapSpec &begin = *specs.front(), &end = *specs.back();
  const auto mask_of = [](const HeatmapSpec& spec) { return spec.mask ? spec.mask->tensor : nullptr; };
  if (first.lock() == begin.values.tensor && last.lock() == end.values.tensor &&
      first_mask.lock() == mask_of(begin) && last_mask.lock() == mask_of(end) &&
      offset == begin.values.offset && maps == specs.size() && theme == begin.theme)
    return;
  HeatmapContents all;
  for (const HeatmapSpec* const spec : specs) add_contents(all, heatmap_contents(*spec));
  entries = legend_entries(begin, all);
  first = begin.values.tensor;
  last = end.values.tensor;
  first_mask = mask_of(begin);
  last_mask = mask_of(end);
  offset = begin.values.offset;
  maps = specs.size();
  theme = begin.theme;
}

double cell_legend_width(const PanelContext& context, const std::string& text) {
  return (legend_beside_units + legend_side_units + legend_gap_units) * context.scale +
         width_of(context.fonts.small, text);
}

std::optional<float> draw_cell_legend(const PanelContext& context, const CellLegend& legend, ImVec2 at,
                                      float right, LegendLines lines) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const float u = context.scale, side = std::round(legend_side_units * u), line = std::round(17.0f * u),
              gap = legend_gap_units * u;
  float x = std::round(at.x), y = std::round(at.y);
  std::optional<float> reached;
  std::vector<HeatmapPlane> planes;
  for (const LegendEntry& entry : legend.entries) {
    const float end = x + side + gap + width_of(font, entry.text);
    if (end > right || planes.size() == most_entries) break;
    reached = std::max(reached.value_or(end), end);
    planes.push_back({&entry.swatch, ImVec2(x, y), ImVec2(x + side, y + side)});
    paint.text(font, {x + side + gap, y + (side - font->FontSize) / 2}, context.palette.text_dim, entry.text);
    ui_probe("stage/legend/" + entry.text, ImVec2(x, y), ImVec2(end, y + side));
    if (lines == LegendLines::column)
      y += line;
    else
      x = std::round(end + 14.0f * u);
  }
  if (!planes.empty()) draw_heatmap_planes(paint.list, context.heatmaps, planes);
  return reached;
}

std::optional<float> draw_legend_beside(const PanelContext& context, const CellLegend& legend,
                                        const RectF& bar, float words_end, float right) {
  const float u = context.scale, y = float(bar.y);
  const float beside_strip = float(bar.x + bar.width) + legend_beside_units * u;
  const ImVec2 beside{std::max(beside_strip, words_end + 14.0f * u), y - 4.0f * u};
  const auto end = draw_cell_legend(context, legend, beside, right, LegendLines::column);
  return end ? end : draw_cell_legend(context, legend, {beside_strip, y + u}, right, LegendLines::column);
}

void draw_axis_light(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  if (!context.pointed || context.pointed->axis.empty() || !part.matrix.view.tensor) return;
  AxisLight(context, part, plane).draw();
}

}  // namespace headwise
