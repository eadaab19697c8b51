// What changed from the other side of a comparison to the present one: the difference of the current map, how far apart all
// heads and the outputs are, and the sentence that says so.
#pragma once

#include <optional>
#include <string>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/session/other_side.h"
#include "core/answers/tensor_change.h"

namespace headwise {

// How one map differs from another.
struct MapDifference {
  MatrixView before, after;  // the two maps compared
  TensorPtr values;          // after − before, (rows,cols)
  TensorPtr mask;            // −∞ where both sides block; null unless both have a mask
  TensorChange change;
};

// The same for a whole tensor.
struct WholeChange {
  TensorPtr before, after;
  TensorChange change;
};

// Each is cached until either of its sides changes.
struct CompareChanges {
  std::optional<MapDifference> map;  // none where the two maps differ in rows or columns
  WholeChange all_heads, output;
};

// Sets `changes.map`. The two must have the same rows and columns.
const MapDifference& map_difference(CompareChanges& changes, const HeatmapSpec& before,
                                    const HeatmapSpec& after);

// What the numbers say about the map in `changes`, which belongs to `part`, about all heads, and about the output.
std::string change_words(const PanelContext& context, CompareChanges& changes, const StagePart& part,
                         const OtherSide& side);
// " The output: max |Δ| = …." alone; empty where the outputs cannot be compared. Here and above, `side` must have a
// computation.
std::string output_words(const PanelContext& context, CompareChanges& changes, const OtherSide& side);

}  // namespace headwise
