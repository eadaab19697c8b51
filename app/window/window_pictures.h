// Exports what the stage shows, as a file or through the clipboard.
#pragma once

#include <optional>
#include <string>

#include "app/session/tensor_export.h"
#include "core/export/color_map.h"

namespace headwise {

struct WindowState;

// What the commands copy to the clipboard; each says in a notice what it copied, or why it copied nothing.

// The number in the pinned cell or the one under the mouse.
void copy_value(WindowState& window);

// The result of the step at this head, or the tensor chosen in the graph.
enum class MapText { table, numpy_array };
void copy_map(WindowState& window, MapText text);

// All masks of the selected head, as one boolean array. True has the meaning chosen in the setup, else the
// one in the operator's own attn_mask.
void copy_mask(WindowState& window);

// The whole scenario as one Python program, in the style selected in the inspector.
void copy_program(WindowState& window);

// Opens the dialog for a file of the stage's picture (.png, .svg), of the motion into the step (.png), or of
// the slides of the playlist (.png). Reports why if there is nothing to save.
void ask_for_stage_picture(WindowState& window);
void ask_for_motion(WindowState& window);
void ask_for_slides(WindowState& window);
// Write it, at slide size and in the window's theme: the picture at once, the motion and the slides over the
// following frames. Throw Error(output), or Error(usage) for any other extension.
void save_stage_picture(WindowState& window, const std::string& path);
void write_stage_picture(WindowState& window, const std::string& path, Theme theme);
void save_motion(WindowState& window, const std::string& path);
void save_slides(WindowState& window, const std::string& path);
// Once a frame: draws the next picture of what is being saved, and reports when it is done.
void record_pictures(WindowState& window);

// As an image for another program: through the desktop's clipboard if available,
// else as a file whose path is reported.
void copy_stage_image(WindowState& window);
void copy_map_image(WindowState& window);

}  // namespace headwise
