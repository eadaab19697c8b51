// The lines of the inspector's list of terms: name, factors with × between, = value, and a bar proportional to its
// magnitude.
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

  // Draws a line; returns the factor clicked, or chosen with Enter or Space: the first one for a click next to all of them.
  // ← and → move through the factors of the focused line.
  const CellRef* draw_line(int line, ImVec2 at) const;

 private:
  const PanelContext& context_;
  const CellTerms& terms_;
  Combine combine_;
  float width_, height_;
  TermColumns columns_;
  double largest_ = 0.0;  // of the finite terms: its bar has full length
};

}  // namespace headwise
