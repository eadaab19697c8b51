// The heads as live thumbnails: a click selects a head, its dot mutes it, a double click solos it.
#pragma once

#include <vector>

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_names.h"
#include "app/widgets/heatmap_view.h"
#include "core/scenario/hand_made_heads.h"

namespace headwise {

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
