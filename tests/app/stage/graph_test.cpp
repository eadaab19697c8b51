#include "app/content/graph_layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/app/stage/stage_trace.h"

using namespace headwise;

namespace {

double text_width(std::string_view text, bool sizes) {
  return static_cast<double>(text.size()) * (sizes ? 7.0 : 7.5);
}

GraphLayout graph_of(const TracedScenario& given, double width = 1560, double height = 90) {
  return graph_layout(*given.trace, {10, 600, width, height}, 1.0, text_width);
}

const GraphNode* node(const GraphLayout& graph, TensorId id) {
  const auto found = std::ranges::find(graph.nodes, id, &GraphNode::id);
  return found == graph.nodes.end() ? nullptr : &*found;
}

bool connected(const GraphLayout& graph, TensorId from, TensorId to) {
  return std::ranges::any_of(graph.edges, [&](const GraphEdge& edge) {
    return graph.nodes[edge.from].id == from && graph.nodes[edge.to].id == to;
  });
}

void check_apart(const GraphLayout& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const RectF& a = graph.nodes[i].rect;
    for (std::size_t j = 0; j < i; ++j) {
      const RectF& b = graph.nodes[j].rect;
      const bool apart =
          a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      CHECK_MESSAGE(apart, graph.nodes[i].name, " lies over ", graph.nodes[j].name);
    }
  }
}

}  // namespace

TEST_CASE("in self-attention one input feeds q, k and v, and the branches meet again") {
  const GraphLayout graph = graph_of(traced());
  CHECK(node(graph, TensorId::query));
  CHECK_FALSE(node(graph, TensorId::key));
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v})
    CHECK(connected(graph, TensorId::query, id));
  CHECK(connected(graph, TensorId::q_heads, TensorId::scores));
  CHECK(connected(graph, TensorId::k_heads, TensorId::scores));
  CHECK(connected(graph, TensorId::v_heads, TensorId::head_output));
  CHECK(connected(graph, TensorId::attn_weights, TensorId::head_output));
  CHECK(connected(graph, TensorId::concat, TensorId::output));
  CHECK_FALSE(node(graph, TensorId::mask_bias));
  CHECK_FALSE(node(graph, TensorId::dropped_weights));
  CHECK_FALSE(node(graph, TensorId::residual_output));
  CHECK(node(graph, TensorId::scores)->sizes == "3·4×4");
}

TEST_CASE("masks, dropout, add & norm and a second input have nodes only where they are present") {
  const GraphLayout graph =
      graph_of(traced({"inputs.self_attention=false", "inputs.key_length=5", "mask.is_causal=true",
                       "attention.dropout=0.1", "attention.residual=true", "attention.layer_norm=true"}));
  CHECK(connected(graph, TensorId::mask_bias, TensorId::masked_scores));
  CHECK(connected(graph, TensorId::attn_weights, TensorId::dropped_weights));
  CHECK(connected(graph, TensorId::dropped_weights, TensorId::head_output));
  CHECK(connected(graph, TensorId::query, TensorId::residual_output));
  CHECK(connected(graph, TensorId::residual_output, TensorId::layer_norm_output));
  REQUIRE(node(graph, TensorId::key));
  CHECK(node(graph, TensorId::key)->name == "key, value");
  CHECK(connected(graph, TensorId::key, TensorId::v));
  CHECK_FALSE(connected(graph, TensorId::query, TensorId::k));
}

TEST_CASE("scaled_dot_product_attention begins with the heads") {
  const GraphLayout graph = graph_of(traced({"op=scaled_dot_product_attention"}));
  CHECK(graph.nodes.front().id == TensorId::q_heads);
  CHECK(connected(graph, TensorId::head_output, TensorId::output));
}

TEST_CASE("edges run from left to right, and no node lies over another or outside of 1280 pixels") {
  for (const TracedScenario& given :
       {traced(), traced({"attention.embed_dim=768", "attention.num_heads=12", "inputs.query_length=40"}),
        traced({"inputs.self_attention=false", "inputs.key_length=5", "mask.is_causal=true",
                "attention.dropout=0.1", "attention.residual=true", "attention.layer_norm=true",
                "inputs.batch=3"})}) {
    for (const double width : {1230.0, 1560.0, 2400.0}) {
      for (const double height : {72.0, 92.0, 130.0}) {
        const GraphLayout graph = graph_of(given, width, height);
        CAPTURE(width);
        CAPTURE(height);
        CHECK(graph.width <= width);
        for (const GraphEdge& edge : graph.edges) {
          CHECK(graph.nodes[edge.from].column < graph.nodes[edge.to].column);
          CHECK(graph.nodes[edge.from].rect.x + graph.nodes[edge.from].rect.width < graph.nodes[edge.to].rect.x);
        }
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
          const RectF& a = graph.nodes[i].rect;
          CHECK(a.x >= 10);
          CHECK(a.x + a.width <= 10 + width);
          CHECK(a.y >= 600);
          CHECK(a.y + a.height <= 600 + height);
          CHECK(a.width >= text_width(graph.nodes[i].name, false));
        }
        check_apart(graph);
      }
    }
  }
}

TEST_CASE("a sink has its share and the log-sum-exp in the graph, in the most crowded layers too") {
  CHECK_FALSE(node(graph_of(traced()), TensorId::lse));
  for (const TracedScenario& given :
       {traced({"attention.sink=1"}),
        traced({"attention.sink=1", "attention.dropout=0.1", "mask.is_causal=true", "attention.residual=true",
                "attention.layer_norm=true", "attention.output_gate=true", "attention.rotary_base=10000",
                "attention.qk_norm=per_head"}),
        traced({"op=multi_head_latent_attention", "attention.kv_lora_rank=8", "attention.qk_nope_head_dim=4",
                "attention.qk_rope_head_dim=2", "attention.sink=1", "attention.output_gate=true",
                "mask.is_causal=true", "attention.residual=true", "attention.layer_norm=true"})}) {
    for (const double width : {1230.0, 1560.0}) {
      const GraphLayout graph = graph_of(given, width, 78);
      CHECK(connected(graph, TensorId::masked_scores, TensorId::lse));
      CHECK(connected(graph, TensorId::lse, TensorId::sink_weights));
      CHECK(connected(graph, TensorId::masked_scores, TensorId::attn_weights));
      check_apart(graph);
    }
  }
}
