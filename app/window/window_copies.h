// What the commands put into the clipboard; each says in a notice what that was, or why it was nothing.
#pragma once

#include <optional>

#include "app/session/tensor_export.h"

namespace headwise {

struct WindowState;

// The number of the cell that is pinned or under the mouse.
void copy_value(WindowState& window);

// The result of the step at this head, or the tensor that was chosen in the graph.
enum class MapText { table, numpy_array };
// Which tensor of which sequence and head that is; without one, says so.
std::optional<TensorExport> map_to_copy(WindowState& window);
void copy_map(WindowState& window, MapText text);

// All masks of the head that is looked at, as one boolean array. True means what was chosen in the setup, else what the
// operator's own attn_mask means by it.
void copy_mask(WindowState& window);

// The whole scenario as one Python program, in the style that the inspector shows.
void copy_program(WindowState& window);

}  // namespace headwise
