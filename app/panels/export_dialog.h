// Ctrl+E: what is written to which file, and in which colours: the stage as it is seen,
// or the map that it shows.
#pragma once

#include <string>

#include "app/session/tensor_export.h"
#include "app/widgets/painter.h"

namespace headwise {

struct ExportDialogState {
  bool open = false;
  bool appearing = false;    // the path gets the focus in the next frame
  std::string path;          // as typed; its extension selects the format
  std::string title;         // title of the picture of one head
  std::string title_of_all;  // and of all heads
  std::string error;         // why the last attempt failed
  std::string replaces;      // the existing file that was asked about: the next accept replaces it
  // a picture is one of the whole stage, else of the map; a table or an array is of the map
  bool stage = true;
  bool has_map = false;     // there is a map, and no page hides it
  std::string stage_title;  // title of the picture of the stage
  bool has_heads = false;   // the tensor has several: all can be exported
  Index head = 0;           // the selected one
  TensorExport what;
};

// Whether accepting writes the stage as it is seen.
bool exports_stage(const ExportDialogState& state);

// True if the user accepted in this frame (twice for an existing file); the caller writes the file, and
// closes the dialog or sets its error.
bool draw_export_dialog(const WidgetContext& context, ExportDialogState& state);

}  // namespace headwise
