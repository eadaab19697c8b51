#include "app/widgets/palette.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

constexpr Rgba8 rgb(unsigned value) {
  return {static_cast<std::uint8_t>(value >> 16U), static_cast<std::uint8_t>(value >> 8U),
          static_cast<std::uint8_t>(value), 255};
}

constexpr Palette dark_palette{
    .window = rgb(0x0e1013),
    .panel = rgb(0x15181d),
    .border = rgb(0x262b33),
    .field = rgb(0x0b0d10),
    .control = rgb(0x2a3039),
    .control_hover = rgb(0x20252c),
    .text = rgb(0xdfe3e8),
    .text_dim = rgb(0x9099a6),
    .text_faint = rgb(0x68707b),
    .focus = rgb(0xffffff),
    .q = rgb(0xb69cff),
    .k = rgb(0xf28fc4),
    .v = rgb(0x86ecc9),
    .followed = rgb(0x4cc9ff),
    .bar = rgb(0xd0722f),
    .warning = rgb(0xe0b050),
    .error = rgb(0xf07a6a),
    .heads = {rgb(0xf03c5a), rgb(0xc36900), rgb(0xffe14b), rgb(0xc3f087), rgb(0x00ffc3), rgb(0x78b4f0),
              rgb(0x7869e1), rgb(0xa56996)},
};

constexpr Palette light_palette{
    .window = rgb(0xf3f4f6),
    .panel = rgb(0xffffff),
    .border = rgb(0xd9dde3),
    .field = rgb(0xf3f4f6),
    .control = rgb(0xe3e7ec),
    .control_hover = rgb(0xedf0f3),
    .text = rgb(0x1c2127),
    .text_dim = rgb(0x5d6672),
    .text_faint = rgb(0x808893),
    .focus = rgb(0x000000),
    .q = rgb(0x6a45d6),
    .k = rgb(0xc0287f),
    .v = rgb(0x005c47),
    .followed = rgb(0x0070c0),
    .bar = rgb(0xd0722f),
    .warning = rgb(0x8a5a00),
    .error = rgb(0xb3261e),
    .heads = {rgb(0xd24b4b), rgb(0xb46900), rgb(0x3c3c00), rgb(0x5a0f2d), rgb(0x0f8787), rgb(0x003c69),
              rgb(0x785aff), rgb(0xc300b4)},
};

// A projector in a lit room leaves little below a middle grey: ink is black, hues are dark and far apart.
constexpr Palette projector_palette{
    .window = rgb(0xffffff),
    .panel = rgb(0xffffff),
    .border = rgb(0x8a929d),
    .field = rgb(0xf3f4f6),
    .control = rgb(0xc9d0d9),
    .control_hover = rgb(0xe3e7ec),
    .text = rgb(0x000000),
    .text_dim = rgb(0x30363e),
    .text_faint = rgb(0x6b737e),
    .focus = rgb(0x000000),
    .q = rgb(0x4a1fc0),
    .k = rgb(0xa80059),
    .v = rgb(0x00402f),
    .followed = rgb(0x004fa8),
    .bar = rgb(0xb4530b),
    .warning = rgb(0x6b4500),
    .error = rgb(0xa10e0e),
    .heads = {rgb(0xa54b4b), rgb(0xc34b00), rgb(0x3c3c00), rgb(0x5a0f2d), rgb(0x0078b4), rgb(0x003c87),
              rgb(0x5a00b4), rgb(0x783c69)},
    .stroke = 1.75f,
    .text_size = 1.2f,
};

}  // namespace

const Palette& palette_of(Theme theme) {
  switch (theme) {
    case Theme::light:
      return light_palette;
    case Theme::dark:
      return dark_palette;
    case Theme::projector:
      return projector_palette;
  }
  return dark_palette;
}

Rgba8 head_hue(const Palette& palette, Index head) {
  return palette.heads[static_cast<std::size_t>(std::max<Index>(head, 0)) % palette.heads.size()];
}

ImU32 im_color(Rgba8 color, float opacity) {
  const float alpha = float(color.a) * std::clamp(opacity, 0.0f, 1.0f);
  return IM_COL32(color.r, color.g, color.b, static_cast<int>(alpha + 0.5f));
}

ImVec4 im_vec4(Rgba8 color, float opacity) {
  return ImGui::ColorConvertU32ToFloat4(im_color(color, opacity));
}

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
