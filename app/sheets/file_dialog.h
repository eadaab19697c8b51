// Asks for a scenario file or a playlist, to open or to save, or for a Python program to save: a path to type, and beside it what the folder holds.
#pragma once

#include <optional>
#include <string>

#include "app/session/folder_listing.h"
#include "app/widgets/widget_context.h"

namespace headwise {

enum class FileDialogPurpose {
  open_scenario,
  save_scenario,
  save_program,
  save_playlist,
  save_stage_picture,
  save_motion
};

struct FileDialogState {
  bool open = false;
  FileDialogPurpose purpose = FileDialogPurpose::open_scenario;
  std::string path;            // as typed
  std::string error;           // why the last try failed
  std::string own;             // the file that is at hand already: saving to it again replaces it unasked
  std::string replaces;        // the file that exists and was asked about: the next accept replaces it
  bool arrays_beside = false;  // of a program: an .npz of the same name is written too
  bool appearing = false;      // the path gets the focus in the next frame
  FolderListing listing;       // of the folder that the path names
  int reached = -1;            // the line of it that the arrows have reached; −1: the folder above
  bool scroll_to_reached = false;
};

// `path` is what is offered first.
void open_file_dialog(FileDialogState& state, FileDialogPurpose purpose, const std::string& path);

// The path that was accepted in this frame; the caller does it, and closes the dialog or sets its error. To save, a name
// must end as its kind of file does, and a file that exists, but for `own`, is replaced at a second accept only.
std::optional<std::string> draw_file_dialog(const WidgetContext& context, FileDialogState& state);

}  // namespace headwise
