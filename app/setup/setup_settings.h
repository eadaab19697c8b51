// The settings of the setup by name, for who looks for one and does not see it: in a low window rarely used rows are left
// out, and the others may have to be scrolled to.
#pragma once

#include <imgui.h>

#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

struct SetupSetting {
  const char* id;             // of its row
  std::string_view name;      // as the row has it, or in full: "temperature"
  std::string_view what;      // one line
  std::string_view keywords;  // more words that find it; not shown
};

// Those that the setup has a row for, from top to bottom.
std::vector<SetupSetting> setup_settings(const Scenario& scenario);

// The ImGui id of the control in a row, for the window that is being filled.
ImGuiID setup_control(std::string_view id);

}  // namespace headwise
