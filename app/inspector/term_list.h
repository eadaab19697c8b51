// The lines of the inspector's list of terms: name, factors with × between, = value, and a bar as long as it is large.
#pragma once

#include <imgui.h>

#include <string>

#include "app/content/cell_terms.h"
#include "app/content/term_columns.h"
#include "app/panels/panel.h"

namespace headwise {

// The name of a line's ImGui item.
std::string term_line_id(int line);

class TermList {
 public:
  // `width` and `height` of a line, in pixels.
  TermList(const PanelContext& context, const CellTerms& terms, Combine combine, float width, float height);

  // Draws a line; the factor that was clicked, or that Enter or Space chose: the first one for a click beside them all.
  // ← and → go through the factors of a line that has the focus.
  const CellRef* draw_line(int line, ImVec2 at) const;

 private:
  const PanelContext& context_;
  const CellTerms& terms_;
  Combine combine_;
  float width_, height_;
  TermColumns columns_;
  double largest_ = 0.0;  // of the finite terms: its bar is full
};

}  // namespace headwise
