#include "app/stage/views.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/content/stage_layout.h"
#include "app/session/head_gains.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

std::string strongest_pair(const PanelContext& context, const HeadStatistics& head) {
  return fmt::format("{} → {}", token_at(context.inputs.labels.query, head.query, "q "),
                     token_at(context.inputs.labels.key, head.key, "k "));
}

// Means over rows, as short as two of them can be told apart: what rounding left of a 0 is a 0.
std::string rounded(double mean, int decimals) {
  return fmt::format("{:.{}f}", std::abs(mean), decimals);
}

// The direction in which a head attends, if it is mostly one direction.
std::string distance_text(const HeadStatistics& head) {
  if (head.distance < 0.05) return "looks at itself";
  const char* way = std::abs(head.back) < 0.5 * head.distance ? "away" : head.back > 0 ? "back" : "ahead";
  return fmt::format("looks {} {}", rounded(head.distance, 1), way);
}

// The same as a sentence for a tooltip.
std::string head_sentence(const PanelContext& context, const HeadStatistics& head) {
  if (head.rows == 0) return "its attention has no finite row";
  const std::string pair = head.query < 0
                               ? "no row has a choice of keys"
                               : fmt::format("strongest pair, among rows with a choice: {}, {}",
                                             strongest_pair(context, head), decimal_text(head.strongest, 2));
  return fmt::format(
      "mean row entropy {} nats (uniform over all unmasked keys: {}); mean distance to the attended key {} "
      "tokens; {}",
      rounded(head.entropy, 2), rounded(head.most_entropy, 2), rounded(head.distance, 1), pair);
}

// Slanted labels of columns that are closer, in units, are thinned.
constexpr double closest_columns = 19.0;

struct HeadMap {
  StagePart part;
  PlaneGeometry plane;
  Index head = 0;  // the first query head that reads this map
  // its number and what it does, or "4–7" where several query heads share a key/value head
  std::string title;
};

std::vector<HeadMap> maps_of(const PanelContext& context, const StagePart& result, const MapGrid& grid,
                             Index count) {
  std::vector<HeadMap> maps;
  maps.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    HeadMap map;
    map.head = head_of_map(context.trace, result.matrix.name, i);
    const Index next = i + 1 < count ? head_of_map(context.trace, result.matrix.name, i + 1)
                                     : context.trace.options.num_heads;
    const auto description = head_description(context, map.head);
    map.title = next - map.head > 1 ? fmt::format("{}–{}", map.head, next - 1) : fmt::format("{}", map.head);
    if (description && next - map.head == 1) map.title += " " + description->name;
    map.part = part_at_head(result, context.trace, context.selection.batch, map.head);
    map.plane = plane_geometry(grid.map(i), map.part.matrix.view.rows, map.part.matrix.view.cols);
    maps.push_back(std::move(map));
  }
  return maps;
}

// As many note lines as cost the maps little and are not cut, after `least` lines that are always shown.
MapGrid grid_with_notes(const PanelContext& context, StageShape& shape,
                        std::span<const HeadStatistics> statistics, Index count, const RectF& area, int least) {
  shape.note_lines = least;
  MapGrid plain = map_grid(count, shape, area, context.scale);
  if (context.presentation) {  // the maps and their names alone, each column named
    if (!plain.col_labels ||
        plain.map_width >= closest_columns * context.scale * static_cast<double>(shape.cols))
      return plain;
    shape.upright_labels = true;
    return map_grid(count, shape, area, context.scale);
  }
  if (static_cast<Index>(statistics.size()) != count || count == 0) return plain;
  for (const HeadStatistics& head : statistics)
    shape.note_lines = std::max(shape.note_lines, least + static_cast<int>(head_words(context, head).size()));
  const MapGrid grid = map_grid(count, shape, area, context.scale);
  const float widest = width_of(context.fonts.small, "entropy 0.00 of 0.00");
  // On a slide every row gets its label before any notes.
  const auto labels_all = [&](const MapGrid& maps) {
    return maps.map_height >= closest_rows * context.scale * static_cast<double>(shape.rows);
  };
  const bool crowded = context.picture && labels_all(plain) && !labels_all(grid);
  const bool fits = !crowded && grid.pitch_x >= widest &&
                    grid.map_width * grid.map_height >= 0.6 * plain.map_width * plain.map_height;
  if (fits) return grid;
  shape.note_lines = least;
  return plain;
}

// "colour scale | shared | per head |", next to the bar, if there is room.
void draw_range_choice(const PanelContext& context, const RectF& bar, const std::string& caption, float end,
                       PanelAction& action) {
  ImFont* small = context.fonts.small;
  const float u = context.scale;
  const ImVec2 size = color_choice_size(context);
  float x = float(bar.x) + std::max(float(bar.width), width_of(small, caption)) + 24.0f * u;
  const float y = std::round(float(bar.y) - small->FontSize - 3.0f * u);
  const std::string words = "colour scale";
  if (context.picture || x + size.x > end) return;
  if (const float room = width_of(small, words) + 8.0f * u; x + room + size.x <= end) {
    context.painter().text(small, {x, std::round(y + 0.5f * (size.y - small->FontSize))},
                           context.palette.text_dim, words);
    x += room;
  }
  ImGui::SetCursorScreenPos({std::floor(x), y});
  draw_color_choice(context, action);
}

void draw_notes(const PanelContext& context, const std::vector<std::string>& words, float x, float y,
                float width) {
  ImFont* font = context.fonts.small;
  for (const std::string& line : words) {
    // A number that is cut is another number: "1.16 of 1.86" becomes "1.16".
    const std::string whole = width_of(font, line) <= width ? line : line.substr(0, line.find(" of "));
    const std::string shown = fitted_text(whole, font, width);
    context.painter().say(font, {x, y}, context.palette.text_dim, shown);
    y += float(note_line_units) * context.scale;
  }
}

// For a frozen head, first that it is frozen.
std::vector<std::string> words_of(const PanelContext& context, const HeadMap& map, const HeadStatistics& head) {
  std::vector<std::string> words = head_words(context, head);
  if (is_frozen(context.scenario, map.head)) words.front() = "frozen weights";
  return words;
}

// A grid of the maps of all heads (or of all key/value heads), each with its number and notes above it.
class AllHeadsView {
 public:
  AllHeadsView(const PanelContext& context, AllHeadsState& state, const StageContent& content, const RectF& area)
      : context_(context),
        result_(*content.result),
        area_(area),
        bar_(result_.bar < content.bars.size() ? &content.bars[result_.bar] : nullptr),
        legend_(state.legend) {
    shape_.rows = result_.matrix.view.rows;
    shape_.cols = result_.matrix.view.cols;
    shape_.row_label_width = row_label_width(context, result_, shape_.rows);
    if (result_.col_labels)
      shape_.col_label_width = column_label_width(context, *result_.col_labels, shape_.cols);
    if (bar_) shape_.bar_captions = {static_cast<double>(bar_->caption.size())};
    // They are statistics of the weights: over other maps they would speak of what is not shown.
    const TensorName& shown = result_.matrix.name;
    const bool weights =
        shown == TensorName{TensorId::attn_weights} || shown == TensorName{TensorId::dropped_weights};
    if (count_ == query_heads_ && weights)
      statistics_ = state.figures.of(context.trace, context.selection.batch);
    grid_ = grid_with_notes(context, shape_, statistics_, count_, area, range_lines());
    maps_ = maps_of(context, result_, grid_, count_);
    if (!own_colors()) return;
    std::vector<StagePart*> parts;
    for (HeadMap& map : maps_) parts.push_back(&map.part);
    state.ranges.give(parts, context.selection.batch);
  }

  PanelAction draw(std::optional<CellRef>& under_mouse) const {
    PanelAction action;
    draw_planes();
    const HeadMap* pointed_map = nullptr;  // the map with the cell under the mouse
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      const HeadMap& map = maps_[i];
      draw_marks(map);
      if (const auto cell = pointed_cell(context_, fmt::format("map{}", i), map.part, map.plane)) {
        under_mouse = cell;
        pointed_map = &map;
      }
      ui_probe("stage/map", static_cast<int>(i), map.plane);
      draw_labels(map, static_cast<Index>(i));
      const double above = shape_.note_lines == 0 ? frame_room() : 0.0;
      const RectF line{static_cast<double>(map.plane.x), map.plane.y - title() - notes() - above,
                       static_cast<double>(map.plane.width), title()};
      PanelAction number = draw_head_number(context_, line, map.head, map.title, count_ < query_heads_);
      draw_words(map, i);
      if (number.scenario || number.selection) action = std::move(number);
    }
    draw_bar(action);
    // Pinning a cell of another head also selects that head.
    if (pointed_map && cell_pressed(context_) && count_ == query_heads_) {
      action.selection = context_.selection;
      action.selection->head = pointed_map->head;
    }
    return action;
  }

 private:
  void draw_planes() const {
    std::vector<HeatmapPlane> planes;
    for (const HeadMap& map : maps_)
      planes.push_back({&map.part.spec, corner(map.plane), far_corner(map.plane)});
    draw_heatmap_planes(ImGui::GetWindowDrawList(), context_.heatmaps, planes);
  }

  // On the map: the marked cells, and whether the head is muted, frozen or shown.
  void draw_marks(const HeadMap& map) const {
    draw_part_overlay(context_, map.part, map.plane, marks_);
    draw_head_marks(context_, plane_rect(map.plane), map.head);
    const Index sharing = query_heads_ / std::max<Index>(count_, 1), shown = context_.selection.head;
    if (shown >= map.head && shown < map.head + sharing && !context_.points_at_heads)
      draw_head_frame(context_, map.plane, context_.palette.focus);
    if (const auto right = context_.right_head; right && *right >= map.head && *right < map.head + sharing)
      draw_right_head(context_, map.plane);
  }

  // Row labels at the first column of the grid, column labels below its last row.
  void draw_labels(const HeadMap& map, Index i) const {
    if (grid_.row_labels && i % grid_.columns == 0)
      draw_part_row_labels(context_, map.part, map.plane, marked_row(map.part.matrix, marks_));
    if (!grid_.col_labels || i + grid_.columns < count_) return;
    PlaneGeometry framed = map.plane;
    framed.height += static_cast<int>(std::round(frame_room()));
    draw_part_column_labels(context_, map.part, framed, marks_, true, shape_.upright_labels);
  }

  // Between title and map: the range of its colours and what the head does; all of it in the tooltip.
  void draw_words(const HeadMap& map, std::size_t i) const {
    const HeadStatistics* head = i < statistics_.size() ? &statistics_[i] : nullptr;
    std::vector<std::string> words;
    if (own_colors()) words.push_back(range_text(map.part.spec.range));
    if (head && shape_.note_lines > range_lines())
      std::ranges::move(words_of(context_, map, *head), std::back_inserter(words));
    const ImVec2 at = corner(map.plane);
    draw_notes(context_, words, at.x, at.y - float(notes()) - 3.0f * context_.scale,
               float(grid_.pitch_x) - 6.0f * context_.scale);
    if (!head) return;
    const auto height = float(title() + notes());
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos({at.x, at.y - height});
    ImGui::Dummy({std::max(1.0f, float(map.plane.width) * 0.7f), height});
    tooltip(context_, fmt::format("head {}: {}{}", map.head,
                                  is_frozen(context_.scenario, map.head) ? "frozen weights; " : "",
                                  head_sentence(context_, *head)));
    ui_probe_item("stage/head_words", static_cast<int>(i));
    ImGui::PopID();
  }

  void draw_bar(PanelAction& action) const {
    if (!bar_) return;
    const std::string caption = own_colors() ? own_colors_caption(result_) : bar_->caption;
    const RangeTicks ends = own_colors_ticks(*bar_);
    for (const RectF& strip : grid_.bars) {
      draw_color_bar(context_.painter(), strip, bar_->color_map, context_.theme, bar_->range, caption,
                     float(area_.width), own_colors() ? &ends : nullptr);
      draw_range_choice(context_, strip, caption, float(area_.x + area_.width), action);
      draw_legend(strip);
    }
  }

  // Beside the ticks of the bar, below the choice of the colours.
  void draw_legend(const RectF& strip) const {
    std::vector<const HeatmapSpec*> specs;
    for (const HeadMap& map : maps_) specs.push_back(&map.part.spec);
    legend_.update(specs);
    const float u = context_.scale;
    const ImVec2 at(float(strip.x + strip.width) + 28.0f * u, float(strip.y + strip.height) + u);
    draw_cell_legend(context_, legend_, at, float(area_.x + area_.width), LegendLines::row);
  }

  bool own_colors() const { return context_.selection.colors_by_head && bar_; }
  int range_lines() const { return own_colors() ? 1 : 0; }
  // Height of the note lines between title and map.
  double notes() const { return note_line_units * context_.scale * shape_.note_lines; }
  double title() const { return title_height_units * context_.scale; }
  // Between name and map, for the frame of the right head.
  double frame_room() const {
    return context_.presentation || context_.right_head ? 5.0 * context_.scale : 0.0;
  }

  const PanelContext& context_;
  const StagePart& result_;
  const RectF area_;
  const Index query_heads_ = context_.trace.options.num_heads;
  const Index count_ = head_count(context_.trace, result_.matrix.name);
  const StageBar* bar_;                         // null: a mask of only 0 and −inf has no colours to explain
  std::span<const HeadStatistics> statistics_;  // for maps that characterise a head; else empty
  CellLegend& legend_;
  StageShape shape_;
  MapGrid grid_;
  std::vector<HeadMap> maps_;
  const std::vector<StageMark> marks_ =
      stage_marks(context_.trace, context_.selection, context_.pointed, context_.reach);
};

}  // namespace

const std::vector<HeadStatistics>& HeadFigures::of(const Trace& trace, Index batch) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  if (weights && weights_.lock() == weights && batch_ == batch) return heads_;
  heads_.clear();
  weights_ = weights;
  work_probe("head statistics");
  batch_ = batch;
  if (!weights || batch < 0 || batch >= weights->shape().size(0)) return heads_;
  for (Index head = 0; head < weights->shape().size(1); ++head)
    heads_.push_back(head_statistics(trace, batch, head));
  return heads_;
}

std::vector<std::string> head_words(const PanelContext& context, const HeadStatistics& head) {
  if (head.rows == 0) return {"no finite row"};
  std::vector<std::string> words{
      fmt::format("entropy {} of {}", rounded(head.entropy, 2), rounded(head.most_entropy, 2)),
      distance_text(head)};
  // The strongest pair might be the answer; its line keeps its place.
  if (head.query >= 0)
    words.push_back(context.points_at_heads ? ""
                                            : fmt::format("{} {}", strongest_pair(context, head),
                                                          cell_number(head.strongest, 2, true)));
  return words;
}

PanelAction draw_all_heads(const PanelContext& context, AllHeadsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse) {
  return AllHeadsView(context, state, content, area).draw(under_mouse);
}

}  // namespace headwise
