// What changed from the other side of a comparison to the present one: the difference of the map that is shown, how far
// apart all heads and the outputs are, and the sentence that says so.
#pragma once

#include <optional>
#include <string>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/session/other_side.h"
#include "core/answers/tensor_change.h"

namespace headwise {

// How one map became another.
struct MapDifference {
  MatrixView before, after;  // that it is of
  TensorPtr values;          // after − before, (rows,cols)
  TensorPtr mask;            // −∞ where both sides block; null where not both have a mask
  TensorChange change;
};

// The same of a whole tensor.
struct WholeChange {
  TensorPtr before, after;
  TensorChange change;
};

// Each is kept until either side of it is another.
struct CompareChanges {
  std::optional<MapDifference> map;  // none where the two maps have not the same rows and columns
  WholeChange all_heads, output;
};

// Sets `changes.map`. The two must have the same rows and columns.
const MapDifference& map_difference(CompareChanges& changes, const HeatmapSpec& before,
                                    const HeatmapSpec& after);

// What the numbers say: of the map that `changes` has, which is `part`, of all heads, of the output.
std::string change_words(const PanelContext& context, CompareChanges& changes, const StagePart& part,
                         const OtherSide& side);
// " The output: max |Δ| = …." alone; empty where the outputs cannot be held against each other. `side` has a computation, here
// and above.
std::string output_words(const PanelContext& context, CompareChanges& changes, const OtherSide& side);

}  // namespace headwise
