// A map of a trace as text for the clipboard: a table for a spreadsheet, an array for Python. Its contents follow
// app/session/tensor_export.h: one head, or a tensor that has no heads.
#pragma once

#include <string>

#include "app/session/tensor_export.h"

namespace headwise {

// Larger maps are too much for a clipboard.
inline constexpr Index most_copied_cells = Index{1} << 20;

// Tab-separated with headings, as write_tsv in core/picture/table.h. Throws Error: usage if the trace has no such tensor,
// batch or head, memory above most_copied_cells.
std::string map_as_table(const Trace& trace, const TokenLabels& labels, const TensorExport& what);

// An expression, "np.array([[0.5, 0.25],\n          [1, np.nan]], dtype=np.float32)": a list of rows, or a flat list for a
// tensor with one axis. Numbers round-trip to the same bits. Throws as above.
std::string map_as_numpy_array(const Trace& trace, const TokenLabels& labels, const TensorExport& what);

}  // namespace headwise
