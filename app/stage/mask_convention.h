// The masks as booleans, in either convention: letters on the map, a line of code, an array to copy.
#pragma once

#include <optional>
#include <string>

#include "app/content/stage_content.h"
#include "app/session/selection.h"
#include "app/widgets/painter.h"
#include "core/code/code_style.h"
#include "core/picture/cell_geometry.h"

namespace headwise {

// Whether the masks of this trace only block, so that a map of booleans captures them completely.
bool is_boolean(const MatrixView& mask_bias);

// T and F in the cells of mask_bias, where they fit; false if nothing was drawn: no boolean convention is
// selected, the plane is not a mask or not boolean, or its cells are too small.
bool draw_mask_letters(const Painter& paint, const StagePart& part, const PlaneGeometry& plane,
                       MaskConvention reading);

// The code that makes a boolean attn_mask of mask_bias, and a comment on which libraries read it this way;
// none for MaskConvention::added.
struct MaskCode {
  std::string code, comment;
};
std::optional<MaskCode> mask_code(CodeStyle style, MaskConvention reading);

// "np.array([[False, True], …])" for one map of mask_bias, in this convention. Throws Error(usage)
// if it is not boolean.
std::string mask_as_booleans(const MatrixView& mask_bias, MaskConvention reading);

}  // namespace headwise
