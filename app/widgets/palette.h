// The theme's colours. Chrome is neutral; q, k and v and each head have a hue, used only on their labels,
// marks and outlines, so that every other colour on the screen is data. Text has a contrast of at least 4.5:1
// to what it stands on; outlines, tracks and marks at least 3:1. Hairlines only decorate.
#pragma once

#include <array>

#include <imgui.h>

#include "core/export/color_map.h"
#include "core/tensor/shape.h"

namespace headwise {

struct Palette {
  Rgba8 window;   // behind the panels
  Rgba8 panel;    // background of a panel: also the middle of the diverging colour map
  Rgba8 border;   // hairlines around panels and fields
  Rgba8 field;    // background of text fields, code boxes and graph nodes
  Rgba8 control;  // a segment or button that is on
  Rgba8 control_hover;
  Rgba8 text;
  Rgba8 text_dim;    // captions, sizes, what is off
  Rgba8 text_faint;  // tracks, ticks, connecting lines and what is disabled
  Rgba8 focus;       // outline of the focused cell, head or node
  Rgba8 q, k, v;     // violet, pink, green
  Rgba8 followed;    // the row of the pinned token, from step to step
  Rgba8 bar;         // bars that show a magnitude
  Rgba8 warning, error;
  std::array<Rgba8, 8> heads;  // marks that belong to one head: use head_hue
  float stroke = 1.0f;         // thickness factor for outlines and connecting lines
  float text_size = 1.0f;      // size factor for all type
};

const Palette& palette_of(Theme theme);

// The hue of a head: eight that are told apart with any of the common colour deficiencies, then the same
// again. A mark in it (a dot, a strip) stands beside the head's number, never instead of it.
Rgba8 head_hue(const Palette& palette, Index head);

// A colour as ImGui takes it; opacity in [0,1].
ImU32 im_color(Rgba8 color, float opacity = 1.0f);
ImVec4 im_vec4(Rgba8 color, float opacity = 1.0f);

// The look of everything that ImGui draws by itself: menus, tooltips, scroll bars, popups.

// Sets ImGui's style: flat, neutral, corners rounded by 4 design units.
void apply_style(const Palette& palette, float scale);

}  // namespace headwise
