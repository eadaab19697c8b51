// What every widget is drawn with.
#pragma once

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/widgets/large_type.h"
#include "app/widgets/palette.h"

namespace headwise {

struct FocusOrder;
struct Painter;  // app/widgets/painter.h

struct WidgetContext {
  const Palette& palette;
  const Fonts& fonts;
  float scale = 1.0f;           // pixels per design unit
  FocusOrder* focus = nullptr;  // null: no keyboard focus here
  // Seconds until another frame is needed without any event (a tooltip that is due): widgets lower it.
  double* wake_after = nullptr;
  Type labels = {};  // the largest of rows and columns, for a hall; without a font: as usual

  float px(float design) const { return design * scale; }
  // Thickness of a line of so many units: whole pixels, at least one.
  float hairline(float units = 1.0f) const { return std::max(1.0f, std::round(px(units))); }
  Painter painter() const;  // of the current ImGui window
};

}  // namespace headwise
