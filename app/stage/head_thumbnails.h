// The heads side by side: what they are called, as measured on the attention weights in sight ("previous
// token 0.64"), the colours of their maps, either the same number in the same colour everywhere or each
// head's colours over its own numbers, and live thumbnails: a click selects a head, its dot mutes it, a
// double click solos it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"
#include "app/widgets/heatmap_view.h"
#include "core/export/picture_builder.h"
#include "core/scenario/hand_made_heads.h"

namespace headwise {

struct HeadName {
  std::string full, brief;  // "previous token 0.64", "previous 0.64"; empty where nothing stands out
  std::string reason;       // for a tooltip: what was measured, and the value of uniform attention
};

// The names of all heads in the selection's sequence, cached as long as the weights live. Empty unless every
// query has a key at its own place (self-attention without appended keys) and the text is short enough to be
// measured in a frame; empty also while a page asks for a head.
class HeadNames {
 public:
  const std::vector<HeadName>& of(const PanelContext& context);

 private:
  std::weak_ptr<const Tensor> weights_;
  Index batch_ = -1;
  std::vector<HeadName> names_;
};

// Widths in pixels of the widest full and the widest brief name; empty without names,
// or while a page hides the weights.
std::vector<double> head_name_widths(const PanelContext& context, const std::vector<HeadName>& names);

class HeadRanges {
 public:
  // Gives each head's map, in the order of the heads, the range of its own numbers: probabilities start at 0,
  // other numbers get a range symmetric about 0. Recomputed only when the maps show other numbers.
  void give(const std::vector<StagePart*>& maps, Index batch);

 private:
  std::weak_ptr<const Tensor> of_, mask_;
  Index batch_ = -1;
  std::vector<ValueRange> ranges_;
};

// "−2.1 … 2.1"
std::string range_text(ValueRange range);

// "shared | per head", at the cursor, and its size in pixels.
// `action` receives the Selection with the new choice.
ImVec2 color_choice_size(const PanelContext& context);
void draw_color_choice(const PanelContext& context, PanelAction& action);

// For a colour bar whose maps each have their own range: the caption "scores, each head its own", and the
// labels at its ends.
std::string own_colors_caption(const StagePart& map);
RangeTicks own_colors_ticks(const StageBar& bar);

// The maps of all heads, in the colours of content.head_map or, if the selection says so, each in its own;
// `ranges` caches those. Empty if the step has none.
std::vector<StagePart> thumbnail_parts(const PanelContext& context, const StageContent& content,
                                       HeadRanges& ranges);

// Adds the planes of all thumbnails to those drawn in one call; `parts` must outlive that call.
void add_thumbnail_planes(const HeadGrid& grid, const std::vector<StagePart>& parts,
                          std::vector<HeatmapPlane>& planes);

// Draws everything but the planes of `parts`, on top of them, and returns what the mouse requests. Where a
// number is followed all the way: also what of each head's map it depends on, and what it feeds. `names`: one
// per head, or none at all.
PanelAction draw_head_thumbnails(const PanelContext& context, const HeadGrid& grid,
                                 const std::vector<StagePart>& parts, const std::vector<HeadName>& names);

// Draws all of that, planes included, in its own area, at most `largest` pixels per thumbnail.
// `content` has a head_map.
PanelAction draw_heads_strip(const PanelContext& context, const StageContent& content, const RectF& area,
                             double largest, HeadRanges& ranges, const std::vector<HeadName>& names);

// Draws a frame from `min` to `max` around the map of a head: the current one, or the one under the mouse.
void draw_head_frame(const PanelContext& context, const Box& map, Rgba8 color);
// Over its map: whether the head is muted, or frozen.
void draw_head_marks(const PanelContext& context, const RectF& map, Index head);
// Around that: of the head that a page asked for, once it has answered.
void draw_right_head(const PanelContext& context, const Box& map);

// Next to a map: the head's number on the left and its dot on the right in the head's hue: filled where the
// head is active, a ring where it is muted; no dot where `several` heads share the map. Returns what a click
// on the dot (mute) or on the rest of `line` (select) requests.
PanelAction draw_head_number(const PanelContext& context, const RectF& line, Index head,
                             const std::string& number, bool several = false);

// Whether it is marked as the head that is shown. While a page asks for a head, none is:
// it would give the answer away.
bool is_marked_head(const PanelContext& context, Index head);

// What a head does, where that is known: for hand-made heads, and for those of our own trained models whose
// function has a name.
struct HeadPurpose {
  std::string name, reason;
};
std::optional<HeadPurpose> head_description(const PanelContext& context, Index head);

// The selection moved to another head; a pinned cell that belongs to a head moves with it.
Selection looking_at_head(const PanelContext& context, Index head);

}  // namespace headwise
