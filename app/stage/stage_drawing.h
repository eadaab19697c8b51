// How one part of the stage is drawn around its plane of cells: title, labels, numbers, marks.
#pragma once

#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/content/stage_marks.h"
#include "app/panels/panel.h"
#include "app/widgets/widget_context.h"
#include "core/picture/cell_geometry.h"

namespace headwise {

// The hue of what belongs to q, k or v; the neutral colour of all else.
Rgba8 tensor_hue(const Palette& palette, TensorId id);

// Returns the cells of a part in a rectangle.
PlaneGeometry part_plane(const RectF& rect, const StagePart& part);

// Writes a sentence in the middle of the area, where there is no matrix to show.
void draw_stage_sentence(const PanelContext& context, const std::string& sentence, RectF area);

// "k  k_heads[0,0]ᵀ  D×S 16×12" over the plane, cut to `width` pixels. `sign` stands before it ("+").
void draw_part_title(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                     float width, const std::string& sign = {});

// Digits, lines between heads, the chosen head's block, and the marks. An operand gets digits only where they
// stand easily.
void draw_part_overlay(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                       const std::vector<StageMark>& marks, bool operand = false);

// Of the row labels, whose axis's name stands over them; 0 where there are none. `rows` of them.
double row_label_width(const PanelContext& context, const StagePart& part, Index rows);
void draw_part_row_labels(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                          std::optional<Index> chosen);
// Tokens where there are any, else a caption, "d 0 … 15", or the number of the head under each of its blocks.
// Gives the head whose number was clicked.
std::optional<Index> draw_part_column_labels(const PanelContext& context, const StagePart& part,
                                             const PlaneGeometry& plane, const std::vector<StageMark>& marks,
                                             bool slanted);

}  // namespace headwise
