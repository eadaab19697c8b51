// What the mouse points at by name: a term or a link of the inspector, a tensor's name, a letter of a shape. It lights up
// everywhere it occurs, until the mouse moves on.
#pragma once

#include <string>
#include <vector>

#include "core/trace/cell_provenance.h"

namespace headwise {

struct Pointed {
  std::vector<BoxRef> boxes;  // cells, rows or whole tensors
  std::string axis;           // a letter, "L"; empty: none
  friend bool operator==(const Pointed&, const Pointed&) = default;
};

}  // namespace headwise
