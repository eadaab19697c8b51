// What ImGui's clipboard holds.
#pragma once

#include <imgui.h>

#include <string>

namespace headwise {

inline std::string clipboard() {
  const char* text = ImGui::GetClipboardText();
  return text ? text : "";
}

}  // namespace headwise
