// The window as it is used without a mouse: what has the focus, and the way there.
#pragma once

#include <string_view>

#include "tests/app/window_bench.h"

namespace headwise {

inline const FocusOrder& focus_of(const WindowBench& bench) {
  return bench.state().view.focus;
}

inline bool is_inside(const FocusOrder& focus, const UiRect& rect) {
  const float x = 0.5f * (rect.min.x + rect.max.x), y = 0.5f * (rect.min.y + rect.max.y);
  return x >= focus.ring_min.x && x <= focus.ring_max.x && y >= focus.ring_min.y && y <= focus.ring_max.y;
}

// Tab until the focus is on this; false where it never is.
inline bool tab_to(const WindowBench& bench, std::string_view name) {
  for (int i = 0; i < 300; ++i) {
    bench.ui->key("Tab");
    const FocusOrder& focus = focus_of(bench);
    if (focus.focused != 0 && bench.ui->has(name) && is_inside(focus, bench.ui->rect(name))) return true;
  }
  return false;
}

inline WindowBench open_at(Step step, StageView view = StageView::one_head, int width = 1600,
                           int height = 1000) {
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  bench.ui->rasterise(false);
  bench.selection().step = step;
  bench.selection().view = view;
  bench.ui->run_until_still();
  return bench;
}

}  // namespace headwise
