// F1: every key, from the command table, and the letters used for shapes. And the sheet of the errors so far.
#pragma once

#include <string>
#include <vector>
#include "app/widgets/painter.h"

namespace headwise {

struct HelpSheetState {
  bool keys = false;   // the sheet of keys is open
  bool about = false;  // what Headwise is, its version, the letters
};

// `presents`: pages are shown on the full screen, where some keys turn them instead.
void draw_help_sheet(const WidgetContext& context, HelpSheetState& state, bool presents);

// Help, Error log: what went wrong lately, and where it is written.
struct LogSheetState {
  bool open = false;
  std::string path;                // of the log
  std::vector<std::string> lines;  // newest last; read when the sheet was opened
};

// True in the frame in which the path was asked for, to be copied.
bool draw_log_sheet(const WidgetContext& context, LogSheetState& state);

}  // namespace headwise
