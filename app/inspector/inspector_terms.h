// The terms of a number in the inspector, largest first, and the links to what it was computed from and to
// what it feeds. Each leads to the cell, row or tensor that it names;
// under the mouse it lights up on the stage and in the graph.
#pragma once

#include "app/content/cell_terms.h"
#include "app/panels/panel.h"
#include "app/widgets/text_column.h"

namespace headwise {

struct TermsState {
  bool all = false;             // every term, in a scrolling list; else only the largest few
  std::optional<CellRef> cell;  // of the last frame: a new cell starts with the largest few
};

// How many terms of a cell are shown: all if requested.
std::size_t shown_terms(TermsState& state, const CellRef& cell, bool compact);

// One line per term: name, factors with × between, = value, and a bar proportional to its magnitude; after
// them the number of terms left out, a click on which shows them.
void draw_terms(const PanelContext& context, TextColumn& column, TermsState& state, const CellTerms& terms,
                Combine combine, PanelAction& action);

// "from" and "to": one name per line, each leading to its tensor.
void draw_links(const PanelContext& context, TextColumn& column, const char* name,
                const std::vector<BoxRef>& boxes, PanelAction& action);

// "next | all the way": how far the two lists below it, and the marks on the stage and in the graph, trace the number.
void draw_way_switch(const PanelContext& context, TextColumn& column, PanelAction& action);
// The same lists all the way: every tensor once, with how much of it the boxes cover.
void draw_way(const PanelContext& context, TextColumn& column, const char* name,
              const std::vector<BoxRef>& boxes, PanelAction& action);

// A link back to the previously pinned cell; draws nothing if there was none.
void draw_way_back(const PanelContext& context, TextColumn& column, PanelAction& action);

// What a click on a tensor's box leads to: the step that computes it, at its head,
// pinned if it is a single cell.
Selection selection_at(const PanelContext& context, const BoxRef& box);

}  // namespace headwise
