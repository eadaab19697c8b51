// What is special about a cell, in a sentence.
#pragma once

#include <string>

#include "core/trace/cell_provenance.h"

namespace headwise {

// "Key/value head 1 = 3 // 2 serves the 2 query heads 2 to 3."; empty if there is nothing to say.
// `provenance` is complete except for its formula and note.
std::string cell_note(const Trace& trace, const CellProvenance& provenance);

}  // namespace headwise
