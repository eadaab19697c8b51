// The tensors of a trace as a graph from left to right: the nodes, what flows between them, and where each
// node lies. Derived from the rules that the tensors declare (core/attention/rules.h);
// drawn by app/stage/graph_view.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"
#include "core/export/picture.h"

namespace headwise {

struct GraphNode {
  TensorId id{};
  std::string name;   // "q_heads"; "key, value" where both are one tensor
  std::string sizes;  // without the batch axis: "8·12×16"
  int column = 0;     // 0 is leftmost; a node lies to the right of everything it is computed from
  double lane = 0;    // -1 … 1, top to bottom
  bool sized = true;  // sizes are written; if room is short, not those that follow from earlier nodes
  RectF rect;
};

struct GraphEdge {
  std::size_t from = 0, to = 0;  // into GraphLayout::nodes
  bool below = false;            // goes along the bottom, under everything between (the residual)
  friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

struct GraphLayout {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  bool two_lines = false;  // sizes below the names: they would not fit next to them
  double padding = 0;      // pixels between a node's sides and its text
  double width = 0;  // of everything; exceeds the area's width only if even the tightest layout does not fit
};

// Width in pixels of a name or, if `sizes`, of the smaller text with the sizes.
using GraphTextWidth = std::function<double(std::string_view text, bool sizes)>;

GraphLayout graph_layout(const Trace& trace, RectF area, double scale, const GraphTextWidth& text_width);

}  // namespace headwise
