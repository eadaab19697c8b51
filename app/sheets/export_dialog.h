// Ctrl+E: which file the picture under focus is written to, and in which colours.
#pragma once

#include <string>

#include "app/session/tensor_export.h"
#include "app/widgets/widget_context.h"

namespace headwise {

struct ExportDialogState {
  bool open = false;
  bool appearing = false;    // the path gets the focus in the next frame
  std::string path;          // as typed; its extension chooses what is written
  std::string title;         // what is in the picture of one head
  std::string title_of_all;  // and of all
  std::string error;         // why the last try failed
  std::string replaces;      // the file that exists and was asked about: the next accept replaces it
  bool has_heads = false;    // the tensor has more than one: all of them can be taken
  Index head = 0;            // the one that is looked at
  TensorExport what;
};

// True where the person accepted in this frame, of a file that exists twice; the caller writes the file, and closes the dialog or sets its
// error.
bool draw_export_dialog(const WidgetContext& context, ExportDialogState& state);

}  // namespace headwise
