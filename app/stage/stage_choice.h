// Choices on the stage: among a few options, and of the query in a view of one row ("query ‹ › it").
#pragma once

#include <cfloat>
#include <span>
#include <string>
#include <string_view>

#include "app/panels/panel.h"

namespace headwise {

// A segmented control at the cursor, at most `room` pixels wide; `id` names its parts for tests:
// "stage/view/Tokens". Returns true if another option was chosen in this frame.
bool stage_choice(const PanelContext& context, const char* id, std::span<const std::string_view> labels,
                  int& chosen, float room = FLT_MAX);

// The current query: that of the pinned cell, else `chosen`, the one chosen in the view; within [0, queries).
Index shown_query(const PanelContext& context, Index chosen, Index queries);

// Chooses another query in the view: a pinned cell, which would hold the query in place, is unpinned.
void choose_query(const PanelContext& context, Index& chosen, Index query, Index queries, PanelAction& action);

// Its token, or its number where there are no tokens.
std::string query_name(const PanelContext& context, Index query);

// Draws the control at `at` and applies it to `chosen`; in a picture, only the words.
// Returns its size in pixels.
ImVec2 draw_query_choice(const PanelContext& context, Index& chosen, Index query, Index queries,
                         PanelAction& action, ImVec2 at);

}  // namespace headwise
