// Sections of the inspector: the step as code, the figures of a row and of its map, the predicted token, and
// an output as a sum over heads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/cell_terms.h"
#include "app/content/map_figures.h"
#include "app/panels/panel.h"
#include "app/widgets/text_column.h"
#include "core/attention/steps.h"
#include "core/export/code_style.h"
#include "core/model/transformer/transformer_config.h"

namespace headwise {

// Whether the terms are products, but what is made of them is more than their sum.
inline bool is_function_of_products(Combine combine) {
  return combine >= Combine::indexer_query && combine <= Combine::indexer_score;
}

struct CodeSectionState {
  CodeStyle style = CodeStyle::pytorch;
};

// A click on the link to the whole program is returned as a command.
void draw_code_section(const PanelContext& context, CodeSectionState& state, TextColumn& column,
                       const std::optional<StepPicture>& picture, PanelAction& action);

// The statistics of the map that the last frame showed, kept until another one is shown.
struct MapStatisticsState {
  std::weak_ptr<const Tensor> of, masked_by;
  Index offset = -1;
  CellStatistics statistics;
};

// Draws "THIS ROW"; nothing if no number is focused, or while a page hides it.
void draw_row_statistics(const PanelContext& context, TextColumn& column);

// Draws "THIS MAP": that of the focused number, else the first of the step's result; nothing while a page
// hides it.
void draw_map_statistics(const PanelContext& context, MapStatisticsState& state, TextColumn& column,
                         const std::optional<StepPicture>& picture);

// True if it said something; false in every other view, and where there is no prediction.
bool draw_inspected_prediction(const PanelContext& context, TextColumn& column);

// Where that is, and what the model has read there: "After “river” (position 4): the next word. …"
std::string prediction_place(const std::string& token, Index position, const TransformerConfig& config);

// One addend of an output cell.
struct OutputShare {
  std::string name;                // "head 3", "bias"
  std::optional<Index> head = {};  // none for the bias, and for several heads together
  double value = 0.0;
  double share = 0.0;  // |value| of Σ |addends|, in [0,1]
};

// Every head in order, then the bias if there is one. With more than `shown` heads, the largest of them in
// order, and one line for all others together. Empty if no cell of `output` is focused,
// or the trace has no output projection.
std::vector<OutputShare> output_shares(const Trace& trace, const Selection& selection, std::size_t shown);

// One line per addend: name, value, percent and a bar as long as its share. Draws nothing if there are none.
void draw_output_shares(const PanelContext& context, TextColumn& column);

// The terms of a number, largest first, and the links to what it was computed from and to what it feeds. Each
// leads to the cell, row or tensor that it names; under the mouse it lights up on the stage and in the graph.

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

// "next | all the way": how far the two lists below it, and the marks on the stage and in the graph, trace
// the number.
void draw_way_switch(const PanelContext& context, TextColumn& column, PanelAction& action);
// The same lists all the way: every tensor once, with how much of it the boxes cover.
void draw_way(const PanelContext& context, TextColumn& column, const char* name,
              const std::vector<BoxRef>& boxes, PanelAction& action);

// A link back to the previously pinned cell; draws nothing if there was none.
void draw_way_back(const PanelContext& context, TextColumn& column, PanelAction& action);

}  // namespace headwise
