// The view of one head: the product (or map) of the step with its operands around it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/softmax_figures.h"
#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/cell_legend.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_names.h"

namespace headwise {

// The map that the step makes, where it was drawn in the last frame.
struct ShownMap {
  TensorName name;
  bool transposed = false;
  PlaneGeometry plane;
  ColorMap color_map = ColorMap::viridis;
  ValueRange range;
};

// Row maximum and Σ exp of the current head, cached until it changes.
struct OneHeadState {
  SoftmaxFigures figures;
  std::weak_ptr<const Tensor> figures_of;
  Index figures_offset = -1;

  CellLegend legend;  // of the result

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them

  std::optional<ShownMap> shown;  // none while another view is shown
  double foot_right = 0.0;        // where the colour bars and the legend of the last frame end, in pixels
};

// `before`: the content of the previous step while context.motion is on its way from there; else null.
// `under_mouse` is set to the cell under the mouse, if any.
PanelAction draw_one_head(const PanelContext& context, OneHeadState& state, const StageContent& content,
                          const StageContent* before, RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
