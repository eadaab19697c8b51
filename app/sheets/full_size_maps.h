// The maps of all heads at full size: small multiples, and one head from the whole to the single cell.
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

// What a block of cells that are too small to be seen shows.
enum class BlockStatistic { largest, mean, least };
inline constexpr std::array<std::string_view, 3> block_statistic_names{"largest", "mean", "least"};

// Cells of a part that show a larger block yet, of which the smaller ones are under way.
struct CoarseCells {
  CellRange rows, cols;  // cells of the map
  Index block = 1;
};

// A part of a head's map as it is drawn: cells, or blocks of them.
struct MapPart {
  Index head = 0;
  CellRange rows, cols;  // cells of the map
  Index block = 1;       // cells of a drawn one, on each side
  HeatmapSpec spec;
  std::vector<CoarseCells> coarse;
};

// Cells, made here and now, where at most this many are seen in each direction; blocks beyond.
inline constexpr Index most_exact_cells = 1024;
// A block that covers more pixels on each side is seen as a square.
inline constexpr double most_pixels_of_block = 1.5;
// The part of head h that can be seen, for a plane of this many pixels on each side. Where the finest blocks of the pyramid are
// larger than that, smaller ones are asked of `finer`, and the larger ones shown until they come; null: always.
MapPart map_part(const FullSizeResult& result, Index head, CellRange rows, CellRange cols,
                 BlockStatistic statistic, double pixels, Theme theme, FinerMaps* finer = nullptr);
// The label of a token; empty where it has none.
const std::string& label_of(const std::vector<std::string>& labels, Index i);
// "head 3: it (q 17) → animal (k 4): 0.123", of drawn cell (row, col).
std::string map_cell_text(const FullSizeResult& result, const MapPart& part, Index row, Index col);

struct FullSizeMapsState {
  std::optional<Index> head;  // null: all of them
  MapZoom zoom;
  BlockStatistic statistic = BlockStatistic::largest;
  double top = 1.0;            // the colours end at this part of the largest weight that is shown, (0,1]
  bool top_is_chosen = false;  // by the slider; else it follows the number of keys
  // Of what is shown; made again where one of these is another.
  std::uint64_t of = 0;  // FullSizeResult::number
  std::vector<MapPart> parts;
  double pixels = 0.0;
  Theme theme{};
  MapZoom parts_zoom;
  std::optional<Index> parts_head;
  BlockStatistic parts_statistic{};
  std::uint64_t parts_arrived = 0;  // FinerMaps::arrived()
};

// In this rectangle of the current ImGui window.
void draw_full_size_maps(const PanelContext& context, const FullSizeResult& result, FinerMaps& finer,
                         FullSizeMapsState& state, RectF area);

}  // namespace headwise
