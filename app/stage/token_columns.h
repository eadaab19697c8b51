// Places and draws the two columns of tokens in the tokens view: queries left, keys right, with room for lines between
// them.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "app/content/stage_matrix.h"
#include "app/panels/panel.h"

namespace headwise {

// One column of tokens; token i is centred at y(i).
struct TokenColumn {
  const std::vector<std::string>* labels = nullptr;
  Index count = 0;
  float x = 0.0f;  // where lines begin or end
  float top = 0.0f, pitch = 1.0f;
  bool right = false;

  float y(Index i) const { return top + (static_cast<float>(i) + 0.5f) * pitch; }
  float bottom() const { return top + static_cast<float>(count) * pitch; }
  // Returns the token under the mouse, which may be up to `reach` pixels outside the column, on the side of its label.
  std::optional<Index> token_at(ImVec2 mouse, float reach) const;
};

struct TokenColumns {
  TokenColumn queries, keys;
  float label_room = 0.0f;  // next to each column, for its labels
  double top = 0.0;         // of the captions
};

// Which row or column of the map is focused: the one under the mouse, else the pinned one.
struct TokenFocus {
  std::optional<Index> query, key;
};

TokenColumns token_columns(const PanelContext& context, const MatrixView& weights, const RectF& area);

// Draws "queries L 12 … S 12 keys" above the columns; the sizes, with their letters, are between the captions, if there is
// room.
void draw_token_captions(const PanelContext& context, const TokenColumns& columns, const StageMatrix& weights);

// Draws the labels of one column, in `room` pixels; while one is chosen, the others are dimmed.
void draw_token_labels(const PanelContext& context, const TokenColumn& column, std::optional<Index> chosen,
                       float room);

// Returns the query or key under the mouse, or reached with the arrow keys; both null if there is none.
TokenFocus token_looked_at(const PanelContext& context, const TokenColumns& columns);

}  // namespace headwise
