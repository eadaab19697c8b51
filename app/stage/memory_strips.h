// The memory of a tensor as what it is, one row of floats: all of it, coloured by head, and enlarged around
// the focused float.
#pragma once

#include <optional>
#include <vector>

#include "app/content/memory_scene.h"
#include "app/panels/panel.h"
#include "app/widgets/heatmap_view.h"

namespace headwise {

// One of the two readings of the memory as a matrix, the one produced by the operations or the one that takes
// the wrong floats: cells that show their offset, a title above them,
// and below them how the offset is computed.

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

// "q_heads[0,1] L×D 12×16" above the cells, and below them how the offset is computed, all at most `width`
// pixels wide. `says_owner`: adds a line saying whose number the float is.
void draw_reading_words(const PanelContext& context, const MemoryReading& reading, float width,
                        bool says_owner);

// The colour of a float: that of its head or, where k is transposed, of its key; a neutral one for floats
// that belong to no head or key shown.
Rgba8 memory_color(const PanelContext& context, const MemoryScene& scene, Index first_float);

struct MemoryStripState {
  bool hovered = false;  // in the last frame: the strips then keep showing the same floats
  Index middle = 0;      // of the enlarged floats
  Index lane_begin = 0;  // the first float of the lanes, where not all of them fit
};

// Floats to be marked in the memory.
struct MarkedFloats {
  std::string what;                 // "q_heads[0,1]", "row 3"
  std::vector<Index> right, wrong;  // in the first memory
};

// The parts that fit: one lane per memory, the first memory's first; the enlarged floats.
struct MemoryStripParts {
  std::size_t lanes = 0;
  bool floats = true;
};

// A caption, then a lane for every memory.
float memory_strips_height(const PanelContext& context, const MemoryStripParts& parts);
// Sets `under` to the float under the mouse, counted in the first memory.
// Returns the head whose colour was clicked.
std::optional<Index> draw_memory_strips(const PanelContext& context, MemoryStripState& state,
                                        const MemoryScene& scene, const MemoryStripParts& parts,
                                        const MarkedFloats& marked, std::optional<Index> wrong_float,
                                        RectF area, std::optional<Index>& under);

}  // namespace headwise
