#include "app/widgets/style.h"

#include <algorithm>
#include <cmath>

namespace headwise {

void apply_style(const Palette& palette, float scale) {
  ImGuiStyle style;
  const auto px = [scale](float design) { return std::round(design * scale); };
  const float line = std::max(1.0f, std::floor(scale));
  style.WindowPadding = {px(16), px(14)};
  style.FramePadding = {px(8), px(4)};
  style.ItemSpacing = {px(8), px(6)};
  style.ItemInnerSpacing = {px(6), px(4)};
  style.IndentSpacing = px(16);
  style.ScrollbarSize = std::max(6.0f, px(8));
  style.GrabMinSize = px(24);
  style.WindowRounding = style.ChildRounding = style.FrameRounding = style.PopupRounding = px(4);
  style.ScrollbarRounding = style.GrabRounding = px(4);
  style.WindowBorderSize = style.ChildBorderSize = style.PopupBorderSize = line;
  style.FrameBorderSize = 0.0f;
  style.WindowMinSize = {1, 1};
  style.DisplaySafeAreaPadding = {0, 0};
  style.AntiAliasedLinesUseTex = true;

  const auto set = [&](ImGuiCol slot, Rgba8 color, float opacity = 1.0f) {
    style.Colors[slot] = im_vec4(color, opacity);
  };
  // Everything not given a colour below is neutral, so that no default blue can appear.
  for (int slot = 0; slot < ImGuiCol_COUNT; ++slot) set(slot, palette.control);
  set(ImGuiCol_Text, palette.text);
  set(ImGuiCol_TextDisabled, palette.text_dim);
  set(ImGuiCol_TextSelectedBg, palette.q, 0.35f);
  set(ImGuiCol_WindowBg, palette.panel);
  set(ImGuiCol_ChildBg, palette.panel, 0.0f);
  set(ImGuiCol_PopupBg, palette.panel);
  set(ImGuiCol_MenuBarBg, palette.window);
  set(ImGuiCol_Border, palette.border);
  set(ImGuiCol_BorderShadow, palette.border, 0.0f);
  set(ImGuiCol_FrameBg, palette.field);
  set(ImGuiCol_FrameBgHovered, palette.field);
  set(ImGuiCol_FrameBgActive, palette.field);
  set(ImGuiCol_ScrollbarBg, palette.panel, 0.0f);
  set(ImGuiCol_ScrollbarGrab, palette.control);
  set(ImGuiCol_ScrollbarGrabHovered, palette.text_faint);
  set(ImGuiCol_ScrollbarGrabActive, palette.text_dim);
  set(ImGuiCol_CheckMark, palette.text);
  set(ImGuiCol_Header, palette.control);
  set(ImGuiCol_HeaderHovered, palette.control);
  set(ImGuiCol_HeaderActive, palette.control);
  set(ImGuiCol_Separator, palette.border);
  set(ImGuiCol_ModalWindowDimBg, palette.window, 0.6f);
  ImGui::GetStyle() = style;
}

}  // namespace headwise
