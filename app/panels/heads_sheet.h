// "Heads of the model": every head of every layer with what it attends to in the text, measured, and what the model would
// predict without it. A click leads there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/head_finding.h"

namespace headwise {

// The heads of a model as a table: one row per head, one column per score,
// sorted by a click on a column header.
struct HeadsTableState {
  HeadOrder order;
  std::optional<std::size_t> at;            // the head that the keyboard has reached
  std::optional<std::size_t> scroll_to;     // a head whose row must be visible in the next frame
  std::optional<HeadColumn> column_wanted;  // a column likewise, if the table is wider than its sheet

  // The display order, recomputed when its inputs change
  std::shared_ptr<const HeadSurvey> sorted_survey;
  std::shared_ptr<const HeadMuting> sorted_muting;
  HeadOrder sorted_order;
  std::vector<std::size_t> sorted;
};

struct HeadsTable {
  std::shared_ptr<const HeadSurvey> survey;  // not null
  std::shared_ptr<const HeadMuting> muting;  // null: not measured
  const std::vector<std::string>* changes;   // with `muting`: each head's largest change, in words
  std::optional<std::size_t> looked_at;      // the head shown by the window behind
};

// At the cursor of the current ImGui window, across its width and `height` pixels high. Returns the head
// chosen in this frame, with a click or Enter.
std::optional<std::size_t> draw_heads_table(const PanelContext& context, const HeadsTable& table,
                                            HeadsTableState& state, float height);

// "1.7"
std::string head_name(const SurveyedHead& head);

struct HeadsSheetState {
  bool open = false;
  bool came = false;  // its table was shown in the previous frame
  HeadsTableState table;
};

// Draws while open. Closing it cancels the work under way. Choosing a head returns an action that leads to
// its layer, as an edit, and to the head.
PanelAction draw_heads_sheet(const PanelContext& context, HeadFinding& finding, HeadsSheetState& state);

}  // namespace headwise
