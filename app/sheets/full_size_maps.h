// The maps of all heads at full size: small multiples, and one head from the whole map down to a single cell.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/content/map_zoom.h"
#include "app/panels/panel.h"
#include "app/session/full_size_runs.h"
#include "core/picture/heatmap.h"

namespace headwise {

// "made-up weights (random)": a model gives only its sizes.
std::string made_up_weights(const FullSizeRequest& request);

// What is shown for a block of cells too small to see.
enum class BlockStatistic { largest, mean, least };
inline constexpr std::array<std::string_view, 3> block_statistic_names{"largest", "mean", "least"};

// Cells of a part that still show a larger block, while the smaller ones are under way.
struct CoarseCells {
  CellRange rows, cols;  // cells of the map
  Index block = 1;
};

// A part of a head's map as drawn: cells, or blocks of them.
struct MapPart {
  Index head = 0;
  CellRange rows, cols;  // cells of the map
  Index block = 1;       // cells per drawn block, on each side
  HeatmapSpec spec;
  std::vector<CoarseCells> coarse;
};

// Single cells, computed at once, if at most this many are visible in each direction; blocks beyond.
inline constexpr Index most_exact_cells = 1024;
// A block that covers more pixels than this on each side is visible as a square.
inline constexpr double most_pixels_of_block = 1.5;
// The visible part of the head's map, for a plane of this many pixels on each side. If the finest blocks of
// the pyramid are larger than that, smaller ones are requested from `finer`, and the larger ones shown until
// they arrive; null: always.
MapPart map_part(const FullSizeResult& result, Index head, CellRange rows, CellRange cols,
                 BlockStatistic statistic, double pixels, Theme theme, FinerMaps* finer = nullptr);
// The label of a token; empty if it has none.
const std::string& label_of(const std::vector<std::string>& labels, Index i);
// "head 3: it (q 17) → animal (k 4): 0.123", for drawn cell (row, col).
std::string map_cell_text(const FullSizeResult& result, const MapPart& part, Index row, Index col);

struct FullSizeMapsState {
  std::optional<Index> head;  // null: all of them
  MapZoom zoom;
  BlockStatistic statistic = BlockStatistic::largest;
  double top = 1.0;            // the colours end at this fraction of the largest weight shown, (0,1]
  bool top_is_chosen = false;  // with the slider; else it depends on the number of keys
  // State of what is shown; recomputed when one of these changes.
  std::uint64_t of = 0;  // FullSizeResult::number
  std::vector<MapPart> parts;
  double pixels = 0.0;
  Theme theme{};
  MapZoom parts_zoom;
  std::optional<Index> parts_head;
  BlockStatistic parts_statistic{};
  std::uint64_t parts_arrived = 0;  // FinerMaps::arrived()
};

// Draws in this rectangle of the current ImGui window.
void draw_full_size_maps(const PanelContext& context, const FullSizeResult& result, FinerMaps& finer,
                         FullSizeMapsState& state, RectF area);

}  // namespace headwise
