// Draws the maps of the comparison view, with the sentence and the values above them and the colour bars below.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/content/compare_layout.h"
#include "app/content/stage_marks.h"
#include "app/stage/compare_view.h"
#include "core/picture/cell_geometry.h"

namespace headwise {

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
  const OtherSide& side_ = *context_.other_side;
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
