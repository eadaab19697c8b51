// The settings of the setup by name, for users who cannot find one: in a low window rarely used rows are
// hidden, and the others may have to be scrolled to: assets/words/settings.txt.
#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

struct SetupSetting {
  std::string id;                  // of its row
  std::string_view name = {};      // as in the row, or spelled out: "temperature"
  std::string_view what = {};      // one line
  std::string_view keywords = {};  // more words that find it; not shown
  std::string_view key = {};       // that it sets in a scenario file, "mask.value"; empty: none
  // Of a number of the operator: SetupRows::number draws its row by these.
  std::string_view letters = {}, tooltip = {};
  bool rare = false;
  double drag_step = 1.0, drag_least = 0.0, drag_most = 1e6;
  bool (*is_there)(const Scenario&) = nullptr;

  std::string_view option() const { return key.substr(key.find('.') + 1); }  // the last part of the key
};

// All of them, also those that have no row now or no name.
std::span<const SetupSetting> all_setup_settings();

// Those for which the setup has a row, from top to bottom.
std::vector<SetupSetting> setup_settings(const Scenario& scenario);

const SetupSetting& setup_setting(std::string_view id);  // one without a name or key if there is no such row
// The key of a row; empty: none.
std::string_view setup_key(std::string_view id);

// The ImGui id of the control in a row, for the window that is being filled.
ImGuiID setup_control(std::string_view id);

}  // namespace headwise
