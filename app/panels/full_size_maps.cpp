#include "app/panels/full_size_sheet.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/backend/model_sizes.h"

namespace headwise {
namespace {

constexpr double closer_per_notch = 1.25, pan_per_press = 0.25;
constexpr float readout_left = 312.0f;  // design units
constexpr std::string_view hand_made = "hand-made: ";

// What a head was made for. The model of these sizes has no such heads, and the title says so.
std::string name_of(const FullSizeResult& result, Index head) {
  if (head < static_cast<Index>(result.inputs.heads.size()))
    return fmt::format("{} {}{}", head, hand_made, result.inputs.heads[static_cast<std::size_t>(head)].name);
  return fmt::format("{}", head);
}

// Over a narrow map what the head does says more than that it was made so, which the line above says of all.
std::string without_origin(const std::string& name, ImFont* font, double width) {
  const std::size_t at = name.find(hand_made);
  if (at == std::string::npos || width_of(font, name) <= width) return name;
  return name.substr(0, at) + name.substr(at + hand_made.size());
}

// One range of colours for all parts that are shown together: from 0 to the largest of their numbers.
void share_range(std::vector<MapPart>& parts) {
  std::vector<HeatmapSpec> specs;
  for (const MapPart& part : parts) specs.push_back(part.spec);
  const ValueRange range = range_of(std::span<const HeatmapSpec>(specs), false, true);
  for (MapPart& part : parts) part.spec.range = range;
}

// The maps as squares side by side, as large as will fit.
struct Grid {
  int columns = 1;
  double side = 0.0, pitch_x = 0.0, pitch_y = 0.0;
};

Grid grid_of(Index count, const RectF& area, double title, double gap) {
  Grid best;
  for (int columns = 1; columns <= count; ++columns) {
    const double rows = std::ceil(static_cast<double>(count) / columns);
    const double side =
        std::floor(std::min((area.width + gap) / columns - gap, (area.height + gap) / rows - gap - title));
    if (side > best.side) best = {columns, side, side + gap, side + gap + title};
  }
  return best;
}

// Down to a thousandth of the largest.
constexpr double decades = 3.0;

ValueRange shown_range(const MapPart& part, double top) {
  return {part.spec.range.lo, part.spec.range.lo + top * (part.spec.range.hi - part.spec.range.lo)};
}

HeatmapSpec shown_spec(const MapPart& part, double top) {
  HeatmapSpec spec = part.spec;
  spec.range = shown_range(part, top);
  return spec;
}

void refresh(const FullSizeResult& result, FinerMaps& finer, FullSizeMapsState& state, double pixels,
             Theme theme) {
  // Read before the pieces are fetched: a later number is another picture.
  const FullSizeMapsState::MadeFor wanted{result.number, pixels,          theme,          state.zoom,
                                          state.head,    state.statistic, finer.arrived()};
  if (state.made_for == wanted && !state.parts.empty()) return;
  const AttentionSizes& s = result.tiles->sizes();
  state.made_for = wanted;
  state.parts.clear();
  if (state.head) {
    state.parts.push_back(map_part(result, *state.head, visible_rows(state.zoom, s.queries, s.all_keys),
                                   visible_cols(state.zoom, s.queries, s.all_keys), state.statistic, pixels,
                                   theme, &finer));
  } else {
    // The pyramid has a block for (nearly) every pixel: that limit is the one for all heads.
    finer.suspend();
    for (Index h = 0; h < s.heads; ++h)
      state.parts.push_back(
          map_part(result, h, {0, s.queries}, {0, s.all_keys}, state.statistic, pixels, theme));
  }
  share_range(state.parts);
}

PlaneGeometry plane_of(const MapPart& part, double x, double y, double side) {
  const double cells = static_cast<double>(std::max(part.spec.values.rows, part.spec.values.cols));
  return plane_geometry({x, y, side * static_cast<double>(part.spec.values.cols) / cells,
                         side * static_cast<double>(part.spec.values.rows) / cells},
                        part.spec.values.rows, part.spec.values.cols);
}

void draw_all(const PanelContext& context, const FullSizeResult& result, FinerMaps& finer,
              FullSizeMapsState& state, RectF area, std::string& readout) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const double title = 1.35 * font->FontSize;
  const Grid grid = grid_of(result.tiles->sizes().heads, area, title, paint.px(10));
  if (grid.side < 8.0) return;
  refresh(result, finer, state, grid.side, context.theme);
  std::vector<PlaneGeometry> geometry;
  std::vector<HeatmapPlane> planes;
  std::vector<HeatmapSpec> specs;
  for (const MapPart& part : state.parts) specs.push_back(shown_spec(part, state.top));
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    const auto column = static_cast<double>(i % static_cast<std::size_t>(grid.columns));
    const auto row = static_cast<double>(i / static_cast<std::size_t>(grid.columns));
    geometry.push_back(plane_of(state.parts[i], area.x + column * grid.pitch_x,
                                area.y + title + row * grid.pitch_y, grid.side));
    planes.push_back({&specs[i], corner(geometry[i]), far_corner(geometry[i])});
  }
  draw_heatmap_planes(paint.list, context.heatmaps, planes);
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    const MapPart& part = state.parts[i];
    const PlaneGeometry& plane = geometry[i];
    const std::string name = name_of(result, part.head);
    ui_text_probe("head " + name, corner(plane));
    paint.text(font, {corner(plane).x, corner(plane).y - float(title)}, context.palette.text_dim,
               fitted_text(without_origin(name, font, grid.side), font, float(grid.side)));
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos(corner(plane));
    const PressItem item = press_item(paint, "map", {float(plane.width), float(plane.height)});
    ui_probe("full_size/map", static_cast<int>(i), plane);
    tooltip(paint, "Head " + name + ": click to zoom in, from the whole map down to single cells.");
    if (item.hovered) {
      paint.outline(plane, context.palette.focus, paint.px(1.5f));
      if (const auto cell = plane.cell_at(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y))
        readout = map_cell_text(result, part, cell->first, cell->second);
    }
    if (item.pressed) {
      state.head = part.head;
      state.zoom = {};
    }
    ImGui::PopID();
  }
}

// Wheel, drag and, with the focus, arrow keys and + −.
void move_view(const PanelContext& context, FullSizeMapsState& state, const PlaneGeometry& plane,
               const AttentionSizes& s, bool hovered, bool active, bool focused) {
  const ImGuiIO& io = ImGui::GetIO();
  const auto side = float(std::max(plane.width, plane.height));
  if (hovered && io.MouseWheel != 0.0f)
    state.zoom = zoomed(state.zoom, std::pow(closer_per_notch, io.MouseWheel),
                        (io.MousePos.x - corner(plane).x) / side, (io.MousePos.y - corner(plane).y) / side,
                        s.queries, s.all_keys);
  if (active && (io.MouseDelta.x != 0.0f || io.MouseDelta.y != 0.0f))
    state.zoom = moved(state.zoom, -io.MouseDelta.x / side, -io.MouseDelta.y / side, s.queries, s.all_keys);
  if (!focused || !context.focus) return;
  const double right = key_pressed(Key::right)  ? pan_per_press
                       : key_pressed(Key::left) ? -pan_per_press
                                                : 0.0;
  const double down = key_pressed(Key::down) ? pan_per_press : key_pressed(Key::up) ? -pan_per_press : 0.0;
  if (right != 0.0 || down != 0.0) state.zoom = moved(state.zoom, right, down, s.queries, s.all_keys);
}

void draw_one(const PanelContext& context, const FullSizeResult& result, FinerMaps& finer,
              FullSizeMapsState& state, RectF area, std::string& readout) {
  const Painter paint = context.painter();
  const AttentionSizes& s = result.tiles->sizes();
  const double left = paint.px(84), below = paint.px(58);
  const double side = std::floor(std::min(area.width - left, area.height - below));
  if (side < 16.0) return;
  refresh(result, finer, state, side, context.theme);
  const MapPart& part = state.parts.front();
  const PlaneGeometry plane = plane_of(part, area.x + left, area.y, side);
  const HeatmapSpec spec = shown_spec(part, state.top);
  draw_heatmap_plane(paint.list, context.heatmaps, spec, corner(plane), far_corner(plane));
  if (part.block == 1) draw_cell_digits(paint, plane, spec, true);

  ImGui::SetCursorScreenPos(corner(plane));
  ImGui::InvisibleButton("map", {float(plane.width), float(plane.height)});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  const bool focused = focus_stop(context.focus, ImGui::GetID("map"), FocusKeys::choose);
  ui_probe("full_size/head", plane);

  std::optional<std::pair<Index, Index>> cell;
  if (hovered) cell = plane.cell_at(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y);
  // Tokens if all of them are legible, else numbers:
  // with thinned tokens one cannot tell how many are left out.
  const bool words = part.block == 1 && float(plane.height) >= paint.px(closest_rows) * float(plane.rows);
  const auto some = [&](const std::vector<std::string>& labels, const CellRange& range) {
    std::vector<std::string> shown;
    for (Index i = range.first; i < range.last; i += part.block)
      shown.push_back(words && !label_of(labels, i).empty() ? label_of(labels, i) : fmt::format("{}", i));
    return shown;
  };
  draw_row_labels(paint, plane, some(result.inputs.labels.query, part.rows),
                  cell ? std::optional(cell->first) : std::nullopt);
  draw_column_labels(paint, plane, some(result.inputs.labels.key, part.cols),
                     cell ? std::optional(cell->second) : std::nullopt, 45.0f);
  if (cell) {
    const RectF box = plane.cell(cell->first, cell->second);
    paint.outline(Box(box).grown(1), context.palette.focus, std::max(1.0f, paint.px(1.5f)));
    readout = map_cell_text(result, part, cell->first, cell->second);
  }
  move_view(context, state, plane, s, hovered, active, focused);
}

// Whose weights the maps are of: a model gives only its sizes. Returns the height of the line.
float draw_weights_source(const PanelContext& context, const FullSizeResult& result, const RectF& area) {
  ImFont* font = context.fonts.small;
  const std::string text =
      fmt::format("Only the sizes are those of {}: {}, {}.", model_sizes()[result.request.model].name,
                  made_up_weights(result.request),
                  result.request.hand_made ? "which read one sentence over and over" : "and random inputs");
  std::string fitted = fitted_clauses(text, font, float(area.width));
  if (fitted.empty()) fitted = fitted_text(text, font, float(area.width));
  ui_probe("full_size/whose", context.painter().text(font, corner(area), context.palette.text, fitted));
  return std::round(1.6f * font->FontSize);
}

// "all heads   ‹ head 3 hand-made: itself ›   −  +   whole"
void draw_head_toolbar(const PanelContext& context, const FullSizeResult& result, FullSizeMapsState& state) {
  const AttentionSizes& s = result.tiles->sizes();
  const auto button = [&](const char* id, const char* label, const char* tip) {
    const bool pressed = text_button(context, id, label, ButtonLook::filled);
    named_item(context, fmt::format("full_size/{}", id), tip);
    ImGui::SameLine(0.0f, context.px(6));
    return pressed;
  };
  if (button("all", "all heads", "Back to all heads.")) {
    state.head.reset();
    return;
  }
  if (button("before", "‹", "Previous head.")) state.head = (*state.head + s.heads - 1) % s.heads;
  if (button("after", "›", "Next head.")) state.head = (*state.head + 1) % s.heads;
  if (button("closer", "+", "Zoom in. The mouse wheel zooms at the pointer."))
    state.zoom = zoomed(state.zoom, 2.0, 0.5, 0.5, s.queries, s.all_keys);
  if (button("farther", "−", "Zoom out."))
    state.zoom = zoomed(state.zoom, 0.5, 0.5, 0.5, s.queries, s.all_keys);
  if (button("whole", "whole", "Show the whole map of this head.")) state.zoom = {};
  ImGui::AlignTextToFramePadding();
  // The name leaves room for the choice of the statistic, which follows.
  const float room = ImGui::GetContentRegionAvail().x - context.px(10) -
                     segmented_control_size(context, block_statistic_names).x;
  ImFont* font = ImGui::GetFont();
  const std::string name = without_origin("head " + name_of(result, *state.head), font, room);
  ImGui::TextUnformatted(fitted_text(name, font, std::min(room, context.px(170))).c_str());
  ImGui::SameLine(0.0f, context.px(10));
}

// In one line or, if too long, in two, the queries above the keys with their number.
void draw_window_notices(const PanelContext& context, const std::string& readout, const RectF& area) {
  constexpr std::string_view arrow = " → ";
  ImFont* font = context.fonts.small;
  const auto left = float(area.x), width = float(area.width);
  const auto lower = float(area.y + area.height);
  const auto line = [&](std::string_view text, float y) {
    context.painter().text(font, {left, y}, context.palette.text, fitted_text(std::string(text), font, width));
  };
  const std::size_t half = readout.find(arrow);
  if (half == std::string::npos || fitted_text(readout, font, width) == readout) return line(readout, lower);
  line(std::string_view(readout).substr(0, half), lower - 1.1f * font->FontSize);
  line(std::string_view(readout).substr(half + 1), lower);
}

// The weights of a query sum to 1: over thousands of keys most are small, and black in colours that end at 1.
// With a top of a few times the average weight, a head that spreads is visible,
// and one that does not is bright all the same.
double first_top(Index keys) {
  constexpr double averages = 32.0, steps = 4.0;  // of the slider in a decade
  const double darker = std::log10(static_cast<double>(std::max<Index>(keys, 1)) / averages);
  return std::pow(10.0, -std::clamp(std::round(steps * darker) / steps, 0.0, decades));
}

}  // namespace

std::string made_up_weights(const FullSizeRequest& request) {
  return request.hand_made ? "made-up weights (hand-made heads, the others random)"
                           : "made-up weights (random)";
}

void draw_full_size_maps(const PanelContext& context, const FullSizeResult& result, FinerMaps& finer,
                         FullSizeMapsState& state, RectF area) {
  if (!state.top_is_chosen) state.top = first_top(result.tiles->sizes().all_keys);
  const double line = draw_weights_source(context, result, area);
  area = {area.x, area.y + line, area.width, std::max(0.0, area.height - line)};
  ImGui::SetCursorScreenPos({float(area.x), float(area.y)});
  if (state.head) draw_head_toolbar(context, result, state);
  if (!state.head) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("Click a head to zoom in.");
    ImGui::SameLine(0.0f, context.px(16));
  }
  const bool blocks = state.parts.empty() || state.parts.front().block > 1;
  int statistic = static_cast<int>(state.statistic);
  if (segmented_control(context, "statistic", block_statistic_names, statistic, {.enabled = blocks}))
    state.statistic = static_cast<BlockStatistic>(statistic);
  named_item(context, "full_size/statistic",
             blocks
                 ? fmt::format("Each drawn cell stands for {0} × {0} weights: their largest, so that no "
                               "spike is lost, their mean, or their least.",
                               state.parts.empty() ? Index{1} : state.parts.front().block)
                 : std::string("Every drawn cell is a single weight here, so there is nothing to choose."));
  const double used = ImGui::GetItemRectMax().y - area.y + context.px(8), foot = context.px(48);
  RectF maps{area.x, area.y + used, area.width, std::max(0.0, area.height - used - foot)};
  std::string readout;
  if (state.head)
    draw_one(context, result, finer, state, maps, readout);
  else
    draw_all(context, result, finer, state, maps, readout);
  if (state.parts.empty()) return;

  const MapPart& part = state.parts.front();
  const double y = area.y + area.height - foot;
  const std::string caption =
      part.block > 1 ? fmt::format("attn_weights: {} of {} × {}",
                                   block_statistic_names[static_cast<std::size_t>(state.statistic)],
                                   part.block, part.block)
                     : std::string("attn_weights");
  const ValueRange range = shown_range(part, state.top);
  draw_color_bar(context.painter(), {area.x, y + context.px(16), context.px(180), context.px(9)},
                 part.spec.color_map, context.theme, range, caption, context.px(300));
  ImGui::SetCursorScreenPos({float(area.x) + context.px(200), float(y) + context.px(9)});
  ImFont* small = context.fonts.small;
  context.painter().text(small, {float(area.x) + context.px(200), float(y) - context.px(2)},
                         context.palette.text_dim, "brighter");
  double darker = -std::log10(state.top);
  if (slider(context, "top", darker,
             {.least = 0.0, .most = decades, .step = 0.25, .normal = 0.0, .width = context.px(90)})
          .changed) {
    state.top = std::pow(10.0, -darker);
    state.top_is_chosen = true;
  }
  named_item(
      context, "full_size/top",
      "Upper end of the colour range: further right, small weights become bright, and all weights above "
      "the end look the same.");
  draw_window_notices(
      context, readout,
      {area.x + context.px(readout_left), y, area.width - context.px(readout_left), context.px(12)});
  if (!readout.empty())
    ui_probe("full_size/told", {float(area.x), float(y)}, {float(area.x + area.width), float(y + foot)});
}

}  // namespace headwise
