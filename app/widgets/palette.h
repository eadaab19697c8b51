// The theme's colours. Chrome is neutral; q, k and v each have a hue, used only on their labels and outlines, so that every
// other colour on the screen is data. Text has a contrast of at least 4.5:1 to what it stands on; outlines, tracks and marks
// at least 3:1. Hairlines only decorate.
#pragma once

#include <imgui.h>

#include "core/picture/color_map.h"

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
  Rgba8 bar;         // bars that show a magnitude
  Rgba8 warning, error;
  float stroke = 1.0f;     // thickness factor for outlines and connecting lines
  float text_size = 1.0f;  // size factor for all type
};

const Palette& palette_of(Theme theme);

// A colour as ImGui takes it; opacity in [0,1].
ImU32 im_color(Rgba8 color, float opacity = 1.0f);
ImVec4 im_vec4(Rgba8 color, float opacity = 1.0f);

}  // namespace headwise
