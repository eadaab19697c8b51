// The heads as live thumbnails: a click looks at one, its dot mutes it, a double click hears it alone.
#pragma once

#include <vector>

#include "app/content/head_grid.h"
#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"
#include "app/widgets/heatmap_plane.h"
#include "core/scenario/hand_made_heads.h"

namespace headwise {

// The maps of all heads, in the colours of content.head_map or, where the selection says so, each in its own; `ranges` keeps
// those. Empty where the step has none.
std::vector<StagePart> thumbnail_parts(const PanelContext& context, const StageContent& content,
                                       HeadRanges& ranges);

// Adds the planes of all thumbnails to those that are drawn in one call; `parts` must outlive that call.
void add_thumbnail_planes(const HeadGrid& grid, const std::vector<StagePart>& parts,
                          std::vector<HeatmapPlane>& planes);

// Everything but the planes of `parts`, over them, and what the mouse asks for. Where all the way of a number is to be lit:
// what of each head's map it depends on, and what it feeds.
PanelAction draw_head_thumbnails(const PanelContext& context, const HeadGrid& grid,
                                 const std::vector<StagePart>& parts);

// Draws all of that, planes too, in an area of its own, at most `largest` pixels a thumbnail. `content` has a head_map.
PanelAction draw_heads_strip(const PanelContext& context, const StageContent& content, const RectF& area,
                             double largest, HeadRanges& ranges);

// Draws a frame around the map of a head from `min` to `max`: the one that is shown, or that the mouse is over.
void draw_head_frame(const PanelContext& context, ImVec2 min, ImVec2 max, Rgba8 color);

// Beside a map: the head's number, left, and its dot, right: full where the head is heard, a ring where it is
// muted; no dot where `several` heads share the map. Gives what a click on the dot (mute) or on the rest of
// `line` (look) asks for.
PanelAction draw_head_number(const PanelContext& context, const RectF& line, Index head,
                             const std::string& number, bool several = false);

// What a head does, where that is known: of hand-made heads, and of those of our own trained models that do something with a name.
struct HeadPurpose {
  std::string name, reason;
};
std::optional<HeadPurpose> head_description(const PanelContext& context, Index head);

// The selection moved to another head; a pinned cell that belongs to a head moves along.
Selection looking_at_head(const PanelContext& context, Index head);

}  // namespace headwise
