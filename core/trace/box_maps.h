// A rule run over boxes: from a box of its result to the boxes it reads, and from a box of a source to the boxes that
// are made from it. Exact: a cell is in one of the boxes if and only if the rule leads there from a cell of the box
// that was given. The boxes may overlap; their number follows the heads, never the cells.
#pragma once

#include <vector>

#include "core/trace/cell_provenance.h"

namespace headwise {

// `box` is of rule.result, inside its sizes.
std::vector<BoxRef> boxes_read(const Rule& rule, const BoxRef& box);

// `box` is of a tensor that the rule knows under this name (first_name); empty where it does not read it.
std::vector<BoxRef> boxes_made_from(const Rule& rule, const BoxRef& box);

// Adds a box to boxes that together are a set of cells: nothing where one of them holds it already, and boxes that join
// it to a larger one become that. True where a cell was added.
bool add_box(std::vector<BoxRef>& boxes, BoxRef box);

}  // namespace headwise
