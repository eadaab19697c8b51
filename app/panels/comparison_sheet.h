// "Is it the same?": three questions that learners argue about, answered with the numbers in front of them. Layouts of the
// projection; many heads against one wide head; a soft look-up against a hard one.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "app/panels/panel.h"
#include "app/session/comparison_target.h"
#include "core/lessons/lookup_comparison.h"

namespace headwise {

// The look-up that the sheet shows. Local to it: no scenario and no selection changes.
struct LookupViewState {
  bool placed = false;  // head and query were taken from the selection on opening
  Index head = 0, query = 0;
  double slider = 2.0 / 3.0;  // the temperature is 10^(3·slider − 2): 0.01 … 1 … 10

  // For the current trace, place and temperature
  TracePtr of;
  Index of_head = -1, of_query = -1;
  LookupComparison comparison;
  SoftLookup soft;
  TensorPtr values;  // (3,Dv): the soft value, the hard one, their difference; null if there is no hard one

  double temperature() const;
};

struct ComparisonSheetState {
  bool open = false;
  int tab = 0;  // of comparison_tabs
  LookupViewState lookup;
};

inline constexpr std::array<std::string_view, 3> comparison_tabs{"one matrix or many", "many heads or one",
                                                                 "soft or hard look-up"};

void draw_comparison_sheet(const PanelContext& context, const TracePtr& trace, Comparisons& comparisons,
                           ComparisonSheetState& state);

}  // namespace headwise
