// The focused number on the Output step as a sum over heads: how much of it each head contributed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"

namespace headwise {

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

}  // namespace headwise
