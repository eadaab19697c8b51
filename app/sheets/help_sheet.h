// F1: every key, from the command table, and the letters used for shapes.
#pragma once

#include "app/widgets/painter.h"

namespace headwise {

struct HelpSheetState {
  bool keys = false;   // the sheet of keys is open
  bool about = false;  // what Headwise is, its version, the letters
};

// `presents`: pages are shown on the full screen, where some keys turn them instead.
void draw_help_sheet(const WidgetContext& context, HelpSheetState& state, bool presents);

}  // namespace headwise
