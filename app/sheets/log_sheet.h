// Help, Error log: what went wrong lately, and where it is written.
#pragma once

#include <string>
#include <vector>

#include "app/widgets/painter.h"

namespace headwise {

struct LogSheetState {
  bool open = false;
  std::string path;                // of the log
  std::vector<std::string> lines;  // newest last; read when the sheet was opened
};

// True in the frame in which the path was asked for, to be copied.
bool draw_log_sheet(const WidgetContext& context, LogSheetState& state);

}  // namespace headwise
