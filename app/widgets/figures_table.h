// Figures in columns: names at the left of their column, numbers in mono at the right of theirs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/widget_context.h"

namespace headwise {

struct FigureColumn {
  std::string_view name;  // dim, above the column
  bool number = false;
};

// One text a column; `share` ≥ 0 draws a bar behind the last column, as long as that part of the room there is.
struct FigureRow {
  std::vector<std::string> cells;
  double share = -1.0;
  bool dim = false;
};

// At the cursor of the current ImGui window, over its whole width, and moves the cursor below. What has no room in the
// widest column of names is cut with "…". `probe`: tests find row i as "probe/i".
void draw_figures(const WidgetContext& context, const char* probe, std::span<const FigureColumn> columns,
                  std::span<const FigureRow> rows);

}  // namespace headwise
