// "Full size": attention as large as models have it, run here and now, with the maps of all its heads.
#pragma once

#include "app/panels/panel.h"
#include "app/session/full_size_runs.h"
#include "app/sheets/full_size_maps.h"

namespace headwise {

struct FullSizeState {
  bool open = false;
  bool came = false;  // it was open in the frame before
  FullSizeRequest request{.model = 0, .length = 512};
  FullSizeMapsState maps;
};

// While open. Closing it gives up what is under way and lets go of the result: it may be most of the memory.
void draw_full_size_sheet(const PanelContext& context, FullSizeRuns& runs, FullSizeState& state);

// What a result took and how right it is, a line each: name and figure.
std::vector<std::pair<std::string, std::string>> full_size_figures(const FullSizeResult& result);

}  // namespace headwise
