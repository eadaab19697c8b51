// Opening, saving and exporting: what the dialogs and dropped files do.
#pragma once

#include <string>

#include "app/panels/file_dialog.h"
#include "core/attention/tensor_names.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/run_record.h"

namespace headwise {

struct WindowDocument;
struct WindowState;

// Writes docs as one HTML page into the folder of what is kept, or of temporary files,
// and starts the browser with it.
void open_docs_in_browser(WindowState& window);
// Puts the file at the top of the recent files.
void remember_file(WindowDocument& document, const std::string& path);

// The folder that the program was started in, with a trailing slash.
std::string working_folder();

// Opens the dialog in the folder of the last file.
void ask_for_scenario(WindowState& window, FileDialogPurpose purpose);
// Saves what is being edited: the playlist whose pages are walked, else the scenario; in the file that it was
// opened from or saved in last, and where there is none, asks for one. A notice names what was saved.
void save(WindowState& window);
// Opens the dialog for the program, in the folder of the last one.
void ask_for_program(WindowState& window);
// Opens the dialog for the loaded playlist, if it has pages.
void ask_for_playlist(WindowState& window);
// What is exported for a tensor on the stage: in the gradients view its gradient, if it has one.
TensorName name_to_export(const WindowState& window, TensorId id);
// Opens the dialog for the picture under focus.
void ask_for_export(WindowState& window);

// When the window ends prematurely: writes the scenario to the user's state folder. Returns the path; empty
// if it could not be written. Never throws.
std::string rescue_scenario(const Scenario& scenario);

// For a scenario that was opened: reports what was taken from arrays, and what they cannot tell; nothing for
// one with other inputs. If nothing says how many heads a model's layer has, the user is asked first.
void notify_of_opened(WindowState& window, const Scenario& scenario);
// Takes the answer: that many heads, as an edit; none: the assumed number stays and is reported.
void take_heads(WindowState& window, const std::optional<HeadChoice>& heads);
// A playlist is shown page by page, starting at its first. A scenario file becomes the current scenario, an
// array file (.npy, .npz, .safetensors) its inputs; any other file is reported in a notice.
// Undo goes back to the state before.
void open_file(WindowState& window, const std::string& path);

// Opens or saves what the dialog accepted; if that fails the dialog stays open and says why.
void accept_file(WindowState& window, const std::string& path);
// Writes the picture that the dialog describes.
void accept_export(WindowState& window);

}  // namespace headwise
