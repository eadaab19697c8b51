// The view of tokens: queries left, keys right, joined by lines whose strength is the attention of one head.
#pragma once

#include <memory>
#include <optional>

#include "app/content/attention_lines.h"
#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"

namespace headwise {

struct TokensState {
  std::optional<int> share;  // which of the shares that are offered; null: what suits the number of tokens
  bool per_key = false;      // the share is counted for each key, not for each query

  // What was drawn last, kept until something that it depends on is another.
  AttentionLines lines;
  std::weak_ptr<const Tensor> lines_of;
  Index lines_offset = -1;
  int lines_share = -1;
  bool lines_per_key = false;

  HeadRanges head_ranges;  // of the thumbnails
};

// Whether this trace has attention to draw.
bool has_tokens_view(const Trace& trace);

// `weights`: the content of the softmax step. `under_mouse` is set to the pair that the mouse is over, if any.
PanelAction draw_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                        RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
