// Maps GLFW's key numbers to ImGui.
#pragma once

#include <imgui.h>

namespace headwise {

// ImGui receives keys by GLFW's numbers: io.KeysDown[GLFW_KEY_A], ImGui::IsKeyPressed(GLFW_KEY_A).
void map_imgui_keys(ImGuiIO& io);

bool is_modifier_key(int glfw_key);
// io.KeyCtrl, KeyShift, KeyAlt, KeySuper from io.KeysDown; left and right count the same.
void set_imgui_modifiers(ImGuiIO& io);

}  // namespace headwise
