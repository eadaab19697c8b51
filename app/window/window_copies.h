// What the commands copy to the clipboard; each says in a notice what it copied, or why it copied nothing.
#pragma once

#include <optional>

#include "app/session/tensor_export.h"

namespace headwise {

struct WindowState;

// The number in the pinned cell or the one under the mouse.
void copy_value(WindowState& window);

// The result of the step at this head, or the tensor chosen in the graph.
enum class MapText { table, numpy_array };
// Which tensor, sequence and head that is; if there is none, a notice says so.
std::optional<TensorExport> map_to_copy(WindowState& window);
void copy_map(WindowState& window, MapText text);

// All masks of the selected head, as one boolean array. True has the meaning chosen in the setup, else the one in the
// operator's own attn_mask.
void copy_mask(WindowState& window);

// The whole scenario as one Python program, in the style selected in the inspector.
void copy_program(WindowState& window);

}  // namespace headwise
