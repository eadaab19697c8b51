// One of the two readings of the memory as a matrix, the one produced by the operations or the one that takes the wrong
// floats: cells that show their offset, a title above them, and below them how the offset is computed.
#pragma once

#include <optional>
#include <vector>

#include "app/content/memory_scene.h"
#include "app/panels/panel.h"
#include "app/widgets/heatmap_view.h"

namespace headwise {

// The rows and columns of the matrix that fit, and the floats in their cells.
struct MemoryWindow {
  Index row_begin = 0, rows = 0, col_begin = 0, cols = 0;
  std::vector<Index> right, wrong;  // in the first memory, row by row; `wrong` is empty where there is none
  std::vector<Rgba8> right_colors, wrong_colors;
};

struct MemoryReading {
  const MemoryScene& scene;
  const MemoryWindow& window;
  PlaneGeometry plane;               // of the cells, as many rows and columns as the window has
  bool wrong = false;                // which of the two
  std::optional<CellBox> looked_at;  // within the window; none if it lies outside

  const std::vector<Index>& floats() const { return wrong ? window.wrong : window.right; }
  const std::vector<Rgba8>& colors() const { return wrong ? window.wrong_colors : window.right_colors; }
};

void draw_reading_cells(const PanelContext& context, const MemoryReading& reading);

// "q_heads[0,1] L×D 12×16" above the cells, and below them how the offset is computed, all at most `width` pixels wide.
// `says_owner`: adds a line saying whose number the float is.
void draw_reading_words(const PanelContext& context, const MemoryReading& reading, float width,
                        bool says_owner);

}  // namespace headwise
