// A choice among a few options, as the stage's views draw it.
#pragma once

#include <cfloat>
#include <span>
#include <string_view>

#include "app/panels/panel.h"

namespace headwise {

// A segmented control at the cursor, at most `room` pixels wide; `id` names its parts for tests:
// "stage/view/Tokens". Returns true if another option was chosen in this frame.
bool stage_choice(const PanelContext& context, const char* id, std::span<const std::string_view> labels,
                  int& chosen, float room = FLT_MAX);

}  // namespace headwise
