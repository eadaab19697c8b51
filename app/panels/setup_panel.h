// The setup on the left: text, parameters, sizes, masks, scale and dropout, and what the user should know
// about the numbers shown.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/typed_words.h"
#include "app/session/cell_editing.h"
#include "app/session/head_gains.h"
#include "core/lessons/layout_comparison.h"

namespace headwise {

struct SetupState {
  bool overflows = false;  // its rows are higher than the panel, which scrolls
  // In a window not high enough for all of them, rarely used rows are hidden until requested, or until they
  // have an unusual value.
  bool compact = false, all_rows = false;
  std::set<std::string, std::less<>> kept_rows;  // of these rows, the ids of those already shown
  SentenceBuilderState builder;
  TypedWordsState typed_words;
  std::string wanted_row;     // id of the row requested by name: it is scrolled to and gets the focus
  bool wanted_whole = false;  // its text is selected, so that typing replaces it
  std::string edited_row;     // id of the row edited last: an error sentence is shown below it
  std::string shown_error;    // the sentence below a row in the last frame: a new one is scrolled to
  // Gains when typing a new number of heads began: going from 8 to 16 passes through 1, which must not lose
  // the gains of all other heads.
  std::optional<std::vector<double>> gains_before_typing;
  bool typing_heads = false;
  std::vector<OperatorSwitch> operator_switches;  // the last of each kind
  UnmutedOutput unmuted;
  // How far apart the projection's layouts are, for the current trace.
  std::weak_ptr<const Tensor> layouts_of;
  LayoutComparison layouts;

  // Another scenario is opened: what an operator had in this one is not restored there.
  void forget_scenario() {
    edited_row.clear();
    operator_switches.clear();
  }
};

// Every edit is returned as a Scenario while it is typed. Text that is not a number is reported below its
// field and not requested; an impossible value is requested, gets context.error,
// and that is reported there too.
PanelAction draw_setup_panel(const PanelContext& context, SetupState& state);

}  // namespace headwise
