// The settings of the setup by name, for users who cannot find one: in a low window rarely used rows are hidden, and the
// others may have to be scrolled to: assets/words/settings.txt.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

struct SetupSetting {
  std::string id;             // of its row
  std::string_view name;      // as in the row, or spelled out: "temperature"
  std::string_view what;      // one line
  std::string_view keywords;  // more words that find it; not shown
};

// Those for which the setup has a row, from top to bottom.
std::vector<SetupSetting> setup_settings(const Scenario& scenario);

// The key that a row sets in a scenario file, "mask.value"; empty: none.
std::string_view setup_key(std::string_view id);

// The ImGui id of the control in a row, for the window that is being filled.
ImGuiID setup_control(std::string_view id);

}  // namespace headwise
