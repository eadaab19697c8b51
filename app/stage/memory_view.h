// The memory order view: which float lies where after view and transpose. The operations as a table, the
// resulting matrix with cells that show their offset, next to it the reading that would take the wrong
// floats, and below both the memory itself as one row of floats.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/content/memory_scene.h"
#include "app/panels/panel.h"
#include "app/stage/memory_strips.h"

namespace headwise {

struct MemoryViewState {
  bool hall = false;  // for the back row: the matrices above all, few words around them
  MemoryWindow window;
  // The tensor that `window` was made from; kept until another is shown.
  std::weak_ptr<const Tensor> window_of;
  std::string window_key;
  MemoryStripState strips;
};

// `under_mouse` is set to the cell whose float is under the mouse, if any.
PanelAction draw_memory(const PanelContext& context, MemoryViewState& state, const MemoryScene& scene,
                        RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
