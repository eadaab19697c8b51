// Asks for a scenario file or a playlist, to open or to save, for a Python program or pictures to save: a
// path field, and next to it the folder's contents.
#pragma once

#include <optional>
#include <string>

#include "app/session/folder_listing.h"
#include "app/widgets/painter.h"

namespace headwise {

enum class FileDialogPurpose {
  open_scenario,
  save_scenario,
  save_program,
  save_playlist,
  save_stage_picture,
  save_motion,
  save_slides,
  // Of a training that is watched: the text or the .json file that it is about, and what it is saved as
  open_training_task,
  save_training_folder,
  save_training_picture,
  save_training_program,
  save_training_pages
};

struct FileDialogState {
  bool open = false;
  FileDialogPurpose purpose = FileDialogPurpose::open_scenario;
  std::string path;            // as typed
  std::string error;           // why the last attempt failed
  std::string own;             // the current file: saving to it again replaces it without asking
  std::string replaces;        // the existing file that was asked about: the next accept replaces it
  bool arrays_beside = false;  // for a program: an .npz of the same name is written too
  bool appearing = false;      // the path gets the focus in the next frame
  FolderListing listing;       // of the folder that the path names
  int reached = -1;            // its line reached with the arrow keys; −1: the parent folder
  bool scroll_to_reached = false;
};

// `path` is the initial suggestion.
void open_file_dialog(FileDialogState& state, FileDialogPurpose purpose, const std::string& path);

// The path accepted in this frame; the caller opens or saves it, and closes the dialog or sets its error.
// When saving, a name must have the extension of its file type, and an existing file other than `own` is
// replaced only at a second accept.
std::optional<std::string> draw_file_dialog(const WidgetContext& context, FileDialogState& state);

}  // namespace headwise
