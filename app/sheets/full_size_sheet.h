// "Full size": attention at real model sizes, run on the spot, with the maps of all its heads.
#pragma once

#include "app/panels/panel.h"
#include "app/session/full_size_runs.h"
#include "app/sheets/full_size_maps.h"

namespace headwise {

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
