// Places the product of the step, its operands and the thumbnails in the view of one head.
#pragma once

#include <string>

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"
#include "app/stage/head_names.h"

namespace headwise {

// Places them all; in a small window the thumbnails give way first, then the colour bars.
StageLayout one_head_layout(const PanelContext& context, const StageContent& content,
                            const std::vector<HeadName>& names, const RectF& area);

// Returns whether a colour bar applies only to the thumbnails.
bool is_of_thumbnails(const StageContent& content, std::size_t bar);
// Returns the caption of a bar. Thumbnails that share the bar with a larger map state themselves that each
// has its own colours.
std::string bar_caption(const PanelContext& context, const StageContent& content, std::size_t bar);

}  // namespace headwise
