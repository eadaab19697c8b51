#include "app/platform/imgui_keys.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <utility>

namespace headwise {

namespace {

constexpr std::pair<ImGuiKey_, int> key_map[] = {
    {ImGuiKey_Tab, GLFW_KEY_TAB},
    {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
    {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
    {ImGuiKey_UpArrow, GLFW_KEY_UP},
    {ImGuiKey_DownArrow, GLFW_KEY_DOWN},
    {ImGuiKey_PageUp, GLFW_KEY_PAGE_UP},
    {ImGuiKey_PageDown, GLFW_KEY_PAGE_DOWN},
    {ImGuiKey_Home, GLFW_KEY_HOME},
    {ImGuiKey_End, GLFW_KEY_END},
    {ImGuiKey_Insert, GLFW_KEY_INSERT},
    {ImGuiKey_Delete, GLFW_KEY_DELETE},
    {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE},
    {ImGuiKey_Space, GLFW_KEY_SPACE},
    {ImGuiKey_Enter, GLFW_KEY_ENTER},
    {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
    {ImGuiKey_KeyPadEnter, GLFW_KEY_KP_ENTER},
    {ImGuiKey_A, GLFW_KEY_A},
    {ImGuiKey_C, GLFW_KEY_C},
    {ImGuiKey_V, GLFW_KEY_V},
    {ImGuiKey_X, GLFW_KEY_X},
    {ImGuiKey_Y, GLFW_KEY_Y},
    {ImGuiKey_Z, GLFW_KEY_Z},
};

}  // namespace

void map_imgui_keys(ImGuiIO& io) {
  for (const auto& [key, glfw_key] : key_map) io.KeyMap[key] = glfw_key;
}

bool is_modifier_key(int glfw_key) {
  return glfw_key >= GLFW_KEY_LEFT_SHIFT && glfw_key <= GLFW_KEY_RIGHT_SUPER;
}

void set_imgui_modifiers(ImGuiIO& io) {
  const auto either = [&io](int left, int right) { return io.KeysDown[left] || io.KeysDown[right]; };
  io.KeyCtrl = either(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = either(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  io.KeyAlt = either(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
  io.KeySuper = either(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
  // In a menu Enter chooses, like Space; ImGui by itself would make it edit. Set in every frame, so that the press which
  // opens a menu is already old when the menu appears.
  const bool chooses = io.KeysDown[GLFW_KEY_SPACE] || either(GLFW_KEY_ENTER, GLFW_KEY_KP_ENTER);
  io.NavInputs[ImGuiNavInput_Activate] = chooses ? 1.0f : 0.0f;
}

}  // namespace headwise
