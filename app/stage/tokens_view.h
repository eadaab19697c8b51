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
  std::optional<int> share;  // which of the offered shares; null: the one suited to the number of tokens
  bool per_key = false;      // the share is counted per key, not per query

  // What was drawn last, cached until something it depends on changes.
  AttentionLines lines;
  std::weak_ptr<const Tensor> lines_of;
  Index lines_offset = -1;
  int lines_share = -1;
  bool lines_per_key = false;

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them
};

// Whether this trace has attention to draw.
bool has_tokens_view(const Trace& trace);

// `weights`: the content of the softmax step. `under_mouse` is set to the pair under the mouse, if any.
PanelAction draw_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                        RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
