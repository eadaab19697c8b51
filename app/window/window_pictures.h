// Taking away what the stage shows, as a file or through the clipboard.
#pragma once

#include <string>

namespace headwise {

struct WindowState;

// Opens the dialog for a file of the stage's picture (.png, .svg) or of the motion into the step (.png). Says why where there
// is nothing to save.
void ask_for_stage_picture(WindowState& window);
void ask_for_motion(WindowState& window);
// Write it, at slide size and in the window's theme: the picture at once, the motion in the frames that follow. Throw
// Error(output), or Error(usage) for another ending.
void save_stage_picture(WindowState& window, const std::string& path);
void save_motion(WindowState& window, const std::string& path);
// Once a frame: the next picture of a motion that is being saved, and a word when it is done.
void record_motion(WindowState& window);

// As an image for another program: by the desktop's clipboard where that can be reached, else as a file whose path is told.
void copy_stage_image(WindowState& window);
void copy_map_image(WindowState& window);

}  // namespace headwise
