// The setup at the left: text, parameters, sizes, masks, scale and dropout, and what the person should know of the
// numbers that are shown.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/unmuted_output.h"
#include "core/answers/layout_comparison.h"

namespace headwise {

struct SetupState {
  // In a window that is not high enough for all, rows that are rarely used are left out until they are asked for, or say
  // something else than usual.
  bool compact = false, all_rows = false;
  std::set<std::string, std::less<>> kept_rows;  // of them, ids of those that have been shown
  std::string wanted_row;  // id of the row that was asked for by name: it is scrolled to and gets the focus
  std::string edited_row;  // id of the row whose edit was asked for last: an error sentence stands under it
  std::string told_error;  // the sentence under a row in the last frame: a new one is scrolled to
  // Gains when the typing of another number of heads began: the way from 8 to 16 leads over 1, which must not
  // cost the gains of all others.
  std::optional<std::vector<double>> gains_before_typing;
  bool typing_heads = false;
  UnmutedOutput unmuted;
  // How far the layouts of the projection are apart, of the trace that is shown.
  std::weak_ptr<const Tensor> layouts_of;
  LayoutComparison layouts;
};

// Every edit comes back as a Scenario while it is typed. What is no number is told under its field and asked
// for by nobody; what is impossible is asked for, gets context.error, and that is told there too.
PanelAction draw_setup_panel(const PanelContext& context, SetupState& state);

}  // namespace headwise
