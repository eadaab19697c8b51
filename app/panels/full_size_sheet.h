// "Full size": attention at real model sizes, run on the spot, with the maps of all its heads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/content/map_zoom.h"
#include "app/panels/panel.h"
#include "app/session/full_size_runs.h"
#include "core/export/heatmap.h"

namespace headwise {

// The maps of all heads at full size: small multiples, and one head from the whole map down to a single cell.

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
  // What is shown, recomputed when what it was made for changes.
  struct MadeFor {
    std::uint64_t result = 0;  // FullSizeResult::number
    double pixels = 0.0;
    Theme theme{};
    MapZoom zoom;
    std::optional<Index> head;
    BlockStatistic statistic{};
    std::uint64_t arrived = 0;  // FinerMaps::arrived()
    friend bool operator==(const MadeFor&, const MadeFor&) = default;
  } made_for;
  std::vector<MapPart> parts;
};

// Draws in this rectangle of the current ImGui window.
void draw_full_size_maps(const PanelContext& context, const FullSizeResult& result, FinerMaps& finer,
                         FullSizeMapsState& state, RectF area);

struct FullSizeState {
  bool open = false;
  bool came = false;  // it was open in the previous frame
  FullSizeRequest request{.model = 0, .length = 512};
  FullSizeMapsState maps;
};

// Draws while open. Closing it cancels the work under way and releases the result,
// which may take most of the memory.
void draw_full_size_sheet(const PanelContext& context, FullSizeRuns& runs, FullSizeState& state);

// The cost and the accuracy of a result, one line each: name and figure.
std::vector<std::pair<std::string, std::string>> full_size_figures(const FullSizeResult& result);

// What the sheet says before there is a result.
std::string full_size_introduction(const Backend& backend);

}  // namespace headwise
