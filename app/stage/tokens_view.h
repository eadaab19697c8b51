// The tokens view: queries left, keys right, joined by lines whose strength is the attention of one head.
#pragma once

#include <memory>
#include <optional>

#include "app/content/attention_lines.h"
#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_names.h"

namespace headwise {

struct TokensState {
  // What was drawn last, cached until something it depends on changes.
  AttentionLines lines;
  std::weak_ptr<const Tensor> lines_of;
  Index lines_offset = -1;
  TokenLines lines_chosen;  // with its share

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them
};

// Which share is drawn of a map of this many queries or keys, whichever are more.
int shown_share(const TokenLines& chosen, Index tokens);

// Whether this trace has attention to draw.
bool has_tokens_view(const Trace& trace);

// `weights`: the content of the softmax step. `under_mouse` is set to the pair under the mouse, if any.
PanelAction draw_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                        RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
