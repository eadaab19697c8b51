// The heads of a model as a table: a row a head, a column a score, sorted by a click on a column's head.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/heads_order.h"

namespace headwise {

struct HeadsTableState {
  HeadOrder order;
  std::optional<std::size_t> at;            // the head that the keyboard has reached
  std::optional<std::size_t> scroll_to;     // a head whose row is to be seen in the next frame
  std::optional<HeadColumn> column_wanted;  // a column likewise, where the table is wider than its sheet

  // The order of what is shown, made when that changes
  std::shared_ptr<const HeadSurvey> sorted_survey;
  std::shared_ptr<const HeadMuting> sorted_muting;
  HeadOrder sorted_order;
  std::vector<std::size_t> sorted;
};

struct HeadsTable {
  std::shared_ptr<const HeadSurvey> survey;  // not null
  std::shared_ptr<const HeadMuting> muting;  // null: nothing is known of it
  const std::vector<std::string>* changes;   // with `muting`: each head's largest change, in words
  std::optional<std::size_t> looked_at;      // the head that the window behind shows
};

// At the cursor of the current ImGui window, as wide as it is and `height` pixels high. The head that was chosen in this frame, by a
// click or by Enter.
std::optional<std::size_t> draw_heads_table(const PanelContext& context, const HeadsTable& table,
                                            HeadsTableState& state, float height);

// "1.7"
std::string head_name(const SurveyedHead& head);

}  // namespace headwise
