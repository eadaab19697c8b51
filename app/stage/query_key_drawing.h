// Draws the plane of queries and keys, and the rows of the shown query's scores and weights beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/query_key_layout.h"
#include "app/panels/panel.h"
#include "core/lessons/query_row.h"

namespace headwise {

// One query of a head, and what its row is.
struct ShownQuery {
  const QueryKeyPlane& plane;
  const QueryKeyLayout& layout;
  Index batch = 0, head = 0, query = 0;
  PlanePoint move;                  // of its arrow; 0 where it was not moved
  const QueryRow& computed;         // as in the trace
  const QueryRow& now;              // with the arrow moved; else the same
  std::vector<bool> blocked;        // S′: keys that the mask blocks for this query
  std::optional<Index> key = {};    // under the mouse, or the pinned one
  std::optional<Index> other = {};  // another query, under the mouse

  bool moved() const { return move.x != 0.0 || move.y != 0.0; }
  PlanePoint tip() const {
    const PlanePoint from = plane.queries[static_cast<std::size_t>(query)];
    return {from.x + move.x, from.y + move.y};
  }
};

std::string key_name(const PanelContext& context, Index key);

// Arrows, points, labels and projections, inside layout.plane.
void draw_query_key_plane(const PanelContext& context, const ShownQuery& shown);

// "key | q·k | weight" for the keys that have room;
// returns the weight under the mouse or reached with the arrow keys.
std::optional<Index> draw_query_key_rows(const PanelContext& context, const ShownQuery& shown);

}  // namespace headwise
