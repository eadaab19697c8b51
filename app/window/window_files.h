// Opening, saving and exporting: what the dialogs and dropped files do.
#pragma once

#include <string>

#include "app/sheets/file_dialog.h"
#include "core/model/layers/head_choices.h"
#include "core/scenario/opened_scenario.h"
#include "core/trace/tensor_names.h"

namespace headwise {

struct WindowDocument;
struct WindowState;

// Writes docs as one HTML page into the folder of what is kept, or of temporary files, and starts the browser with it.
void open_docs_in_browser(WindowState& window);
// Puts the file at the head of the recent ones.
void remember_file(WindowDocument& document, const std::string& path);

// The folder that the program was started in, with a slash behind it.
std::string working_folder();

// Opens the dialog where the last file was.
void ask_for_scenario(WindowState& window, FileDialogPurpose purpose);
// Opens the dialog for the program, in the folder of the last one.
void ask_for_program(WindowState& window);
// Opens the dialog for the playlist at hand, where it has pages.
void ask_for_playlist(WindowState& window);
// What is taken away of a tensor on the stage: in the view of gradients its gradient, where it has one.
TensorName name_to_export(const WindowState& window, TensorId id);
// Opens the dialog for the picture under focus.
void ask_for_export(WindowState& window);

// Where the window ends before its time: writes the scenario into the state folder of the person. The path; empty where it
// could not be written. Never throws.
std::string rescue_scenario(const Scenario& scenario);

// Of a scenario that was opened: says what was taken from arrays, and what they cannot tell; nothing of one with other inputs.
// Where nothing says how many heads a model's layer has, the person is asked first.
void tell_of_opened(WindowState& window, const Scenario& scenario);
// The answer: so many heads, as an edit; none: what is assumed stays, and is told.
void take_heads(WindowState& window, const std::optional<HeadChoice>& heads);
// A playlist is shown page by page, from its first on. A scenario file becomes the scenario asked for, an array file (.npy, .npz, .safetensors) its inputs; a file
// that is neither is told in a notice. Undo goes back to what was there before.
void open_file(WindowState& window, const std::string& path);

// What the dialog accepted: opens or saves; where that fails the dialog stays and says why.
void accept_file(WindowState& window, const std::string& path);
// Writes the picture that the dialog describes.
void accept_export(WindowState& window);

}  // namespace headwise
