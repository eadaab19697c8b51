// How one part of the stage is drawn around its plane of cells: title, labels, numbers, marks.
#pragma once

#include <string>
#include <vector>

#include "app/content/paired_layout.h"
#include "app/content/stage_content.h"
#include "app/content/stage_matrix.h"
#include "app/panels/panel.h"
#include "core/export/plane_rule.h"

namespace headwise {

// The hue for what belongs to q, k or v; the neutral colour for everything else.
Rgba8 tensor_hue(const Palette& palette, TensorId id);
// Of what a page's question asked for, once it has answered.
Rgba8 right_answer_hue(const Palette& palette);

// A matrix's name, without its head where a page asks for one.
std::string name_on_stage(const PanelContext& context, const StageMatrix& matrix);

// Returns the cells of a part in a rectangle, and the rectangle of cells.
PlaneGeometry part_plane(const RectF& rect, const StagePart& part);
RectF plane_rect(const PlaneGeometry& plane);

// Writes a sentence in the middle of the area, where there is no matrix to show.
void draw_stage_sentence(const PanelContext& context, const std::string& sentence, RectF area);

// "k  k_heads[0,0]ᵀ  D×S 16×12" above the plane, cut to `width` pixels. `sign` precedes it ("+").
void draw_part_title(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                     float width, const std::string& sign = {});

// Digits, lines between heads, the chosen head's block, and the marks.
// An operand gets digits only where they fit easily.
void draw_part_overlay(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                       const std::vector<StageMark>& marks, bool operand = false);

// Width of `rows` row labels and of the axis name above them; 0 where there are none.
double row_label_width(const PanelContext& context, const StagePart& part, Index rows);
// Its cells and labels.
LabelledShape labelled_shape(const PanelContext& context, const StagePart& part);
void draw_part_row_labels(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                          std::optional<Index> chosen);
// Tokens where there are any, else a caption, "d 0 … 15", or the number of the head under each of its blocks.
// Returns the head whose number was clicked. `upright`: tokens run straight down,
// where columns are too close for slanted ones.
std::optional<Index> draw_part_column_labels(const PanelContext& context, const StagePart& part,
                                             const PlaneGeometry& plane, const std::vector<StageMark>& marks,
                                             bool slanted, bool upright = false);

}  // namespace headwise
