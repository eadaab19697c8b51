// The line along the bottom of the window: what the last edit changed, how long that took,
// and the number under the mouse.
#pragma once

#include <optional>

#include "app/panels/panel.h"
#include "app/session/worker.h"

namespace headwise {

struct StatusInfo {
  double compute_seconds = 0.0;    // of the current trace
  std::optional<Waiting> waiting;  // for the work under way
  const char* what = "computing";  // what that work is
};

// Fills the current ImGui window.
void draw_status_bar(const PanelContext& context, const StatusInfo& info);

// "computed 9 of 16 tensors in 1.3 ms": the others were shared with the trace before.
std::string compute_text(const Trace& trace, double seconds);

}  // namespace headwise
