// The view of one head's queries and keys in a plane: an arrow for each query, a point for each key, and the
// shown query's scores as projections onto its arrow; beside it that query's scores and weights, computed
// with all D numbers. Dragging an arrow recomputes both as if that query were another vector;
// the scenario is unchanged.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_names.h"
#include "core/answers/query_row.h"
#include "core/attention/query_key_plane.h"

namespace headwise {

// Whose arrow was moved: batch, head, query.
using QueryPlace = std::tuple<Index, Index, Index>;

struct QueryKeyState {
  Index query = 0;  // shown where no pinned cell has one
  // How far arrows were moved in the plane. Dropped when q or k changes: the plane is then another one.
  std::map<QueryPlace, PlanePoint> moves;
  bool dragging = false;
  PlanePoint grip;  // from the mouse to the tip of the arrow that is dragged, in pixels

  // The plane of one head, and the row of the moved query: cached until what they depend on changes.
  std::weak_ptr<const Tensor> plane_of_q, plane_of_k;
  Index plane_batch = -1, plane_head = -1;
  QueryKeyPlane plane;
  std::string no_plane;  // why there is none: a sentence
  std::weak_ptr<const Tensor> row_of;
  QueryPlace row_place;
  PlanePoint row_move;
  QueryRow row;

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them
};

// Whether this trace has queries and keys to place.
bool has_query_key_view(const Trace& trace);

// `scores`: the content of the scores step. `under_mouse` is set to the score or weight under the mouse,
// if any.
PanelAction draw_query_key(const PanelContext& context, QueryKeyState& state, const StageContent& scores,
                           RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
