// The terms of a number in the inspector, largest first, and the links to what it was made from and to what it
// feeds. Each leads to the cell, row or tensor that it names; under the mouse it lights up on the stage and in the
// graph.
#pragma once

#include "app/content/cell_terms.h"
#include "app/panels/panel.h"
#include "app/widgets/text_column.h"

namespace headwise {

struct TermsState {
  bool all = false;             // every term, in a list that scrolls; else the largest few
  std::optional<CellRef> cell;  // of the last frame: another one begins with the largest few
};

// How many terms are shown of a cell: all where they were asked for.
std::size_t shown_terms(TermsState& state, const CellRef& cell, bool compact);

// One line a term: name, factors with × between, = value, and a bar as long as it is large; behind them how many are
// left out, which a click brings in.
void draw_terms(const PanelContext& context, TextColumn& column, TermsState& state, const CellTerms& terms,
                Combine combine, PanelAction& action);

// "from" and "to": names in lines, each leading to its tensor.
void draw_links(const PanelContext& context, TextColumn& column, const char* name,
                const std::vector<BoxRef>& boxes, PanelAction& action);

// "next | all the way": how far the two lists below it, and the marks on the stage and in the graph, follow the number.
void draw_way_switch(const PanelContext& context, TextColumn& column, PanelAction& action);
// The same lists all the way: every tensor once, with how much of it the boxes are.
void draw_way(const PanelContext& context, TextColumn& column, const char* name,
              const std::vector<BoxRef>& boxes, PanelAction& action);

// The cell that was pinned before this one; nothing where there was none.
void draw_way_back(const PanelContext& context, TextColumn& column, PanelAction& action);

// What a click on a tensor's box leads to: the step that makes it, at its head, pinned where it is one cell.
Selection selection_at(const PanelContext& context, const BoxRef& box);

}  // namespace headwise
