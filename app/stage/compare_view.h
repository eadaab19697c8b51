// The comparison view: the step's result in another scenario, in this one, and their difference,
// with one shared cursor.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/content/compare_layout.h"
#include "app/content/stage_content.h"
#include "app/content/stage_marks.h"
#include "app/panels/panel.h"
#include "app/session/comparison_target.h"
#include "app/stage/cell_legend.h"
#include "core/answers/tensor_change.h"
#include "core/picture/cell_geometry.h"

namespace headwise {

// What changed from the other side of a comparison to the present one: the difference of the current map, how
// far apart all heads and the outputs are, and the sentence that says so.

// How one map differs from another.
struct MapDifference {
  MatrixView before, after;  // the two maps compared
  TensorPtr values;          // after − before, (rows,cols)
  TensorPtr mask;            // −∞ where both sides block; null unless both have a mask
  TensorChange change;
};

// The same for a whole tensor.
struct WholeChange {
  TensorPtr before, after;
  TensorChange change;
};

// Each is cached until either of its sides changes.
struct CompareChanges {
  std::optional<MapDifference> map;  // none where the two maps differ in rows or columns
  WholeChange all_heads, output;
};

// What it can compare with, in the order of CompareWith, as its buttons name them.
struct CompareChoices {
  std::array<std::string_view, compare_with_count> names, short_names;
};
CompareChoices compare_choices(const Trace& trace);

struct CompareState {
  CompareChanges changes;
  CellLegend legend;
  std::optional<std::pair<Index, Index>> cell;  // row and column under the mouse, in whichever of the maps
};

// `content` comes from the present trace and has cells. `under_mouse` is set to the present trace's cell
// under the mouse, on any of the maps.
PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse);

// Draws the maps of the comparison view, with the sentence and the values above them and the colour bars
// below.

// Returns the area with `height` pixels removed at its top.
RectF without_top(const RectF& area, double height);

struct ComparedMap {
  const char* probe;
  std::string title;
  StagePart part;  // with the matrix of the present map if it has the same cells
  PlaneGeometry plane;
  ComparePlace place;
};

// The other side's map, the present one and, where both have the same shape, their difference.
class CompareMaps {
 public:
  CompareMaps(const PanelContext& context, CompareState& state, const StagePart& present,
              const StagePart& other, ValueRanges& ranges);

  // Draws the sentence on the numbers and returns the area below it.
  RectF draw_words(RectF area);
  // Places the maps; returns false if they do not fit.
  bool place(const RectF& area);
  // Draws the maps; returns the head whose number was clicked.
  std::optional<Index> draw(std::optional<CellRef>& under_mouse);

 private:
  using Place = std::optional<std::pair<Index, Index>>;  // row and column

  // The cell under focus, on the maps of this view.
  Place focused_place() const;
  void add_difference();
  void draw_planes() const;
  void draw_title(std::size_t i) const;
  std::optional<Index> draw_map(std::size_t i, Place& hovered) const;
  void draw_bars() const;
  // Whether a cell of map `i` corresponds to a cell of the present trace.
  bool linked(std::size_t i) const { return alike_ || i == 1; }

  const PanelContext& context_;
  CompareState& state_;
  const StagePart& present_;
  const StagePart& other_;
  const ComparisonTarget& side_ = *context_.comparison_target;
  const std::string name_ = to_string(present_.matrix.name);
  const bool alike_ = other_.matrix.view.rows == present_.matrix.view.rows &&
                      other_.matrix.view.cols == present_.matrix.view.cols;
  std::vector<ComparedMap> maps_;
  const std::vector<StageMark> marks_ = stage_marks(context_.trace, context_.selection, context_.pointed);
  const Place focus_ = focused_place();
  RectF area_;
  std::optional<RectF> values_line_;  // none where the sentence takes its place
  CompareLayout layout_;
};

}  // namespace headwise
