#include "app/content/graph_layout.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/rules.h"

namespace headwise {
namespace {

using Id = TensorId;

// In units.
constexpr double padding = 7.0;
constexpr double least_padding = 4.0;
constexpr double name_gap = 5.0;
constexpr double widest_gap = 56.0;
constexpr double narrowest_gap = 9.0;
constexpr double one_line_height = 24.0;
constexpr double two_line_height = 34.0;

struct DrawnTensor {
  Id id;
  double lane = 0.0;
};
// The nodes, in the order of computation; parameters and given masks are not drawn.
// clang-format off
constexpr auto drawn = std::to_array<DrawnTensor>({
    {Id::query, -1.0}, {Id::key}, {Id::value, 1.0}, {Id::q_a, -1.0}, {Id::compressed_q, -1.0}, {Id::q, -1.0}, {Id::k}, {Id::v, 1.0},
    {Id::kv_a}, {Id::compressed_kv, 1.0}, {Id::k_rot}, {Id::present_compressed_kv, 1.0}, {Id::present_k_rot}, {Id::kv_b, 1.0},
    {Id::q_heads, -1.0}, {Id::k_heads}, {Id::v_heads, 1.0}, {Id::q_normed, -1.0}, {Id::k_normed},
    {Id::q_rotary, -1.0}, {Id::k_rotary}, {Id::present_key}, {Id::present_value, 1.0},
    {Id::indexer_scores, 0.4}, {Id::q_absorbed, -1.0}, {Id::k_absorbed},
    {Id::scores, -0.5}, {Id::scaled_scores, -0.5}, {Id::position_bias, 0.4}, {Id::mask_bias, 0.4},
    {Id::masked_scores, -0.5}, {Id::lse, -1.0}, {Id::sink_weights, -1.0},
    {Id::attn_weights, -0.5}, {Id::dropped_weights, -0.5}, {Id::latent_output}, {Id::head_output}, {Id::concat},
    {Id::output_gate, 1.0}, {Id::gated_concat}, {Id::output},
    {Id::residual_output}, {Id::layer_norm_output}});
// clang-format on

// "8·12×16": leading axes joined by dots, without the batch, which all tensors have.
std::string sizes_text(const Tensor& tensor) {
  std::vector<Index> sizes = tensor.shape().sizes();
  if (sizes.size() > 2) sizes.erase(sizes.begin());
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += i + 1 == sizes.size() ? "×" : "·";
    text += fmt::format("{}", sizes[i]);
  }
  return text;
}

// In self-attention key and value are the query itself: one node represents them.
Id node_of(const TraceTensors& t, Id id) {
  if (id == Id::value && t.value == t.key) id = Id::key;
  if (id == Id::value && t.value == t.query) id = Id::query;
  if (id == Id::key && t.key == t.query) id = Id::query;
  return id;
}

struct GraphBuilder {
  const Trace& trace;
  GraphLayout layout;

  std::size_t find(Id id) const {
    id = node_of(trace.tensors, id);
    const auto found = std::ranges::find(layout.nodes, id, &GraphNode::id);
    return static_cast<std::size_t>(found - layout.nodes.begin());
  }

  void add_nodes() {
    const TraceTensors& t = trace.tensors;
    const bool one_input = !t.key || t.key == t.query;
    const bool shared_value = t.value && t.value == t.key;
    for (const auto& [id, lane] : drawn) {
      if (id == Id::dropped_weights && trace.options.dropout <= 0) continue;
      if (id == Id::lse && !t.sink_weights) continue;  // nothing reads it
      const TensorPtr tensor = trace.tensor(id);
      if (!tensor || node_of(t, id) != id) continue;
      std::string name(tensor_entry(id).name);
      if (id == Id::key && shared_value) name = "key, value";
      GraphNode node;
      node.id = id;
      node.name = std::move(name);
      node.sizes = sizes_text(*tensor);
      node.lane = id == Id::query && one_input ? 0.0 : id == Id::key && shared_value ? 0.5 : lane;
      // Under the two of the sink.
      if (t.sink_weights && (id == Id::attn_weights || id == Id::dropped_weights)) node.lane = 0.0;
      layout.nodes.push_back(std::move(node));
    }
  }

  void connect(Id from, Id to) {
    // At p = 0 dropped_weights are attn_weights, and only those are drawn.
    if (from == Id::dropped_weights && trace.options.dropout <= 0) from = Id::attn_weights;
    const GraphEdge edge{
        find(from), find(to),
        from == Id::query && (to == Id::residual_output || to == Id::output_gate || to == Id::indexer_scores)};
    if (edge.from >= layout.nodes.size() || edge.to >= layout.nodes.size() || edge.from == edge.to) return;
    if (std::ranges::find(layout.edges, edge) == layout.edges.end()) layout.edges.push_back(edge);
  }

  void add_edges() {
    for (const GraphNode& node : layout.nodes)
      for (const TensorName source : rule_sources(declared_rule(trace, {node.id})))
        connect(source.id, node.id);
    // What lies between is not drawn.
    for (const Id input : {Id::query, Id::key})
      if (node_of(trace.tensors, input) == input) connect(input, Id::indexer_scores);
    // Longest path from the left; nodes are in the order of computation,
    // so one pass over the targets is enough.
    for (std::size_t to = 0; to < layout.nodes.size(); ++to)
      for (const GraphEdge& edge : layout.edges)
        if (edge.to == to)
          layout.nodes[to].column = std::max(layout.nodes[to].column, layout.nodes[edge.from].column + 1);
    // What feeds only a later node goes just left of it: the merged masks next to the scaled scores.
    for (const auto& [source, made] : {std::pair(Id::mask_bias, Id::masked_scores),
                                       {Id::position_bias, Id::mask_bias},
                                       {Id::indexer_scores, Id::mask_bias},
                                       {Id::output_gate, Id::gated_concat}})
      if (const std::size_t from = find(source), to = find(made);
          from < layout.nodes.size() && to < layout.nodes.size())
        layout.nodes[from].column = layout.nodes[to].column - 1;
  }
};

// Nodes whose sizes are left out where room is short, first to last: they follow from earlier ones.
constexpr std::array known_sizes{
    Id::masked_scores,
    Id::scaled_scores,
    Id::mask_bias,
    Id::position_bias,
    Id::indexer_scores,
    Id::dropped_weights,
    Id::sink_weights,
    Id::lse,
    Id::residual_output,
    Id::layer_norm_output,
    Id::kv_b,
    Id::present_k_rot,
    Id::k_rot,
    Id::compressed_q,
    Id::q_a,
    Id::kv_a,
    Id::v,
    Id::k,
    Id::q,
    Id::gated_concat,
    Id::output_gate,
    Id::concat,
    Id::head_output,
    Id::attn_weights,
    Id::v_heads,
    Id::latent_output,
    Id::k_absorbed,
    Id::q_absorbed,
    Id::compressed_kv,
    Id::present_compressed_kv,
    Id::present_value,
    Id::present_key,
    Id::k_rotary,
    Id::q_rotary,
    Id::k_normed,
    Id::q_normed,
    Id::output,
    Id::k_heads,
    Id::key,
    Id::value,
    Id::q_heads,
    Id::query,
    Id::scores,
};

}  // namespace

GraphLayout graph_layout(const Trace& trace, RectF area, double scale, const GraphTextWidth& text_width) {
  GraphBuilder builder{trace, {}};
  builder.add_nodes();
  builder.add_edges();
  GraphLayout layout = std::move(builder.layout);
  if (layout.nodes.empty()) return layout;

  const double u = scale;
  const int columns = std::ranges::max(layout.nodes, {}, &GraphNode::column).column + 1;
  std::vector<double> widths(static_cast<std::size_t>(columns), 0.0);
  layout.padding = padding * u;
  const auto measure = [&] {
    std::ranges::fill(widths, 0.0);
    double total = 0.0;
    for (const GraphNode& node : layout.nodes) {
      const double name = text_width(node.name, false);
      const double sizes = node.sized ? text_width(node.sizes, true) : 0.0;
      const double beside = node.sized ? name + name_gap * u + sizes : name;
      double& width = widths[static_cast<std::size_t>(node.column)];
      width =
          std::max(width, std::ceil((layout.two_lines ? std::max(name, sizes) : beside) + 2 * layout.padding));
    }
    for (const double width : widths) total += width;
    return total;
  };
  // Sizes next to the names, else below them, else only where they are new, else none.
  const double gaps = static_cast<double>(columns - 1);
  const bool along_the_bottom = std::ranges::any_of(layout.edges, &GraphEdge::below);
  if (along_the_bottom) {
    // The edge leaves its node on the left and passes below all others.
    area.x += 10.0 * u;
    area.width -= 10.0 * u;
  }
  const double room = area.width - gaps * 11.0 * u;
  double total = measure();
  if (total > room && area.height >= 3.1 * two_line_height * u) {
    layout.two_lines = true;
    total = measure();
  }
  if (total > room) {
    layout.padding = least_padding * u;
    total = measure();
  }
  for (const Id id : known_sizes) {
    if (total <= room) break;
    for (GraphNode& node : layout.nodes) node.sized = node.sized && node.id != id;
    total = measure();
  }
  const double gap =
      columns > 1 ? std::clamp((area.width - total) / gaps, narrowest_gap * u, widest_gap * u) : 0.0;
  layout.width = total + gaps * gap;

  const double wanted = (layout.two_lines ? two_line_height : one_line_height) * u;
  const double lanes_height = area.height - (along_the_bottom ? 8.0 * u : 0.0);
  const double height = std::min(wanted, lanes_height / 3.1);
  const double spacing = std::min((lanes_height - height) / 2.0, 40.0 * u);
  const double middle = area.y + lanes_height / 2.0;
  std::vector<double> xs{area.x};
  for (const double width : widths) xs.push_back(xs.back() + width + gap);
  for (GraphNode& node : layout.nodes) {
    const auto column = static_cast<std::size_t>(node.column);
    if (!node.sized) node.sizes.clear();
    node.rect = {std::floor(xs[column]), std::floor(middle + node.lane * spacing - height / 2.0),
                 widths[column], std::floor(height)};
  }
  return layout;
}

}  // namespace headwise
