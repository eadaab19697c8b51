// Figures in columns: names left-aligned, numbers right-aligned in mono.
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

// One text per column; `share` ≥ 0 draws a bar after the last column, filling that fraction of the remaining space.
struct FigureRow {
  std::vector<std::string> cells;
  double share = -1.0;
  bool dim = false;
};

// At the cursor of the current ImGui window, across its whole width; moves the cursor below. What does not fit into the
// widest column of names is cut with "…". `probe`: tests find row i as "probe/i".
void draw_figures(const WidgetContext& context, const char* probe, std::span<const FigureColumn> columns,
                  std::span<const FigureRow> rows);

}  // namespace headwise
