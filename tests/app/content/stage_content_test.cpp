#include "app/content/stage_content.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/content/map_figures.h"
#include "app/content/stage_matrix.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

StageContent shown(const TracedScenario& given, Step step, std::optional<TensorId> tensor = {}) {
  static ValueRanges ranges;
  Selection selection;
  selection.step = step;
  selection.tensor = tensor;
  return stage_content(*given.trace, given.inputs.labels, selection, Theme::dark, ranges);
}

std::vector<TracedScenario> many_scenarios() {
  return {traced(),
          traced({"mask.is_causal=true", "attention.dropout=0.25", "attention.residual=true",
                  "attention.layer_norm=true", "inputs.batch=2"}),
          traced({"attention.num_heads=4", "attention.num_kv_heads=2", "inputs.self_attention=false",
                  "inputs.key_length=7", "attention.add_bias_kv=true", "attention.add_zero_attn=true",
                  "mask.value=-1e9", "mask.is_causal=true"}),
          traced({"attention.head_dim=5", "attention.v_head_dim=2", "attention.bias=false"}),
          traced({"attention.num_heads=1", "inputs.query_length=1"}),
          traced({"attention.kdim=6", "attention.vdim=8", "inputs.self_attention=false"}),
          traced({"attention.sink=1.5", "mask.is_causal=true"}),
          traced({"op=scaled_dot_product_attention"})};
}

}  // namespace

TEST_CASE("operands have the rows and the columns of their result, at every step of every scenario") {
  for (const TracedScenario& given : many_scenarios()) {
    for (int step = 0; step < step_count; ++step) {
      for (const StepPicture& picture : step_pictures(static_cast<Step>(step), *given.trace)) {
        const StageContent content = shown(given, static_cast<Step>(step), picture.result);
        CAPTURE(step);
        CAPTURE(std::string(tensor_entry(picture.result).name));
        REQUIRE(content.nothing == "");
        REQUIRE(content.result);
        const MatrixView& result = content.result->matrix.view;
        CHECK(content.result->matrix.name.id == first_name(*given.trace, {picture.result}).id);
        CHECK(content.left.has_value() == picture.left.has_value());
        CHECK(content.above.has_value() == picture.above.has_value());
        if (content.above) CHECK(content.above->matrix.view.cols == result.cols);
        if (content.bias) CHECK(content.bias->matrix.view.cols == result.cols);
        if (content.left && picture.result != TensorId::k && picture.result != TensorId::v)
          CHECK(content.left->matrix.view.rows == result.rows);
        if (content.left && content.above && !content.cell_for_cell)
          CHECK(content.left->matrix.view.cols == content.above->matrix.view.rows);
      }
    }
  }
}

TEST_CASE("each colour bar covers every value that is drawn in its colours, and names the tensor") {
  for (const TracedScenario& given : many_scenarios()) {
    for (int step = 0; step < step_count; ++step) {
      const StageContent content = shown(given, static_cast<Step>(step));
      CAPTURE(step);
      for (const StagePart* part : parts_of(content)) {
        const std::string name = to_string(part->matrix.name);
        CAPTURE(name);
        const ValueRange range = part->spec.range;
        for (Index row = 0; row < part->matrix.view.rows; ++row) {
          for (Index col = 0; col < part->matrix.view.cols; ++col) {
            const double value = part->matrix.view.value(row, col);
            const CellKind kind = cell_kind(part->spec, row, col);
            if (kind == CellKind::value && std::isfinite(value) && (value < range.lo || value > range.hi))
              FAIL_CHECK(value << " lies outside of the bar's " << range.lo << " … " << range.hi);
          }
        }
        if (part->matrix.name.id == TensorId::mask_bias && range == ValueRange{0.0, 0.0}) continue;
        REQUIRE(part->bar < content.bars.size());
        const StageBar& bar = content.bars[part->bar];
        CHECK(bar.range == range);
        const std::string base = name.substr(0, name.find("_heads"));
        CHECK_CONTAINS(bar.caption, base);
        if (head_count(*given.trace, part->matrix.name) > 1) CHECK_CONTAINS(bar.caption, "all heads");
      }
    }
  }
}

TEST_CASE("the same number has the same colour where a step compares numbers") {
  const TracedScenario given = traced({"mask.is_causal=true"});
  const StageContent scores = shown(given, Step::scores);
  CHECK(scores.left->bar == scores.above->bar);
  CHECK(scores.bars[scores.left->bar].caption == "q and k, all heads");
  CHECK(scores.bars[scores.result->bar].caption == "scores, all heads");
  const StageContent scale = shown(given, Step::scale);
  CHECK(scale.left->bar == scale.result->bar);
  CHECK(scale.bars.size() == 1);
  const StageContent softmax = shown(given, Step::softmax);
  CHECK(softmax.left->bar != softmax.result->bar);
  CHECK(softmax.result->spec.color_map == ColorMap::viridis);
  CHECK(softmax.row_figures);
}

TEST_CASE(
    "with a sink its part of each row stands beside the weights, in their colours, and is its own cell") {
  const TracedScenario given = traced({"attention.sink=0.5", "attention.dropout=0.1"});
  static ValueRanges ranges;
  Selection selection;
  selection.step = Step::softmax;
  selection.head = 2;
  for (const bool turned : {false, true}) {
    selection.queries_as_columns = turned;
    const StageContent content =
        stage_content(*given.trace, given.inputs.labels, selection, Theme::dark, ranges);
    REQUIRE(content.sink);
    CHECK(content.sink->bar == content.result->bar);
    CHECK_CONTAINS(content.bars[content.sink->bar].caption, "attn_weights and sink_weights");
    const MatrixView &sink = content.sink->matrix.view, &weights = content.result->matrix.view;
    CHECK(sink.rows == (turned ? 1 : 4));
    CHECK(sink.cols == (turned ? 4 : 1));
    for (Index query = 0; query < 4; ++query) {
      double sum = turned ? sink.value(0, query) : sink.value(query, 0);
      for (Index key = 0; key < 4; ++key)
        sum += turned ? weights.value(key, query) : weights.value(query, key);
      CHECK(sum == doctest::Approx(1.0).epsilon(1e-6));
      CHECK(cell_at(content.sink->matrix, turned ? 0 : query, turned ? query : 0) ==
            CellRef{{TensorId::sink_weights}, {0, 2, query}});
    }
    // A query's row is marked there too.
    selection.pinned = CellRef{{TensorId::sink_weights}, {0, 2, 3}};
    const auto marks = stage_marks(*given.trace, selection);
    CHECK((turned ? marked_col : marked_row)(content.sink->matrix, marks) == 3);
  }
  CHECK_FALSE(shown(given, Step::softmax, TensorId::dropped_weights).sink);
  CHECK_FALSE(shown(given, Step::weighted_sum).sink);
  CHECK_FALSE(shown(traced(), Step::softmax).sink);
  selection.view = StageView::all_heads;  // which does not show it
  CHECK_FALSE(stage_content(*given.trace, given.inputs.labels, selection, Theme::dark, ranges).sink);
}

TEST_CASE("the sink's part of the rows and their log-sum-exp are pictures of all heads") {
  const TracedScenario given =
      traced({"attention.sink=0.5", "inputs.source=text", "inputs.text=one two three"});
  const StageContent sinks = shown(given, Step::softmax, TensorId::sink_weights);
  CHECK(sinks.result->matrix.row_axis == "H");
  CHECK(sinks.result->col_labels);
  REQUIRE(sinks.result->row_labels);
  CHECK(sinks.result->row_labels->at(2) == "2");
  CHECK(sinks.sign == "σ(s − lse)");
  CHECK(sinks.cell_for_cell);
  CHECK(sinks.left->matrix.name.id == TensorId::lse);
  const StageContent lse = shown(given, Step::softmax, TensorId::lse);
  CHECK_FALSE(lse.left);
  CHECK(lse.result->matrix.view.rows == 3);
}

TEST_CASE("keys that the indexer does not choose are told from those that a mask blocks") {
  const TracedScenario given =
      traced({R"(mask.indexer={"heads":2,"width":4,"k":2})", "mask.is_causal=true", "inputs.query_length=6"});
  const HeatmapSpec spec = shown(given, Step::choose).result->spec;
  for (Index query = 0; query < 6; ++query) {
    Index left_out = 0;
    for (Index key = 0; key < 6; ++key) {
      CHECK((cell_kind(spec, query, key) == CellKind::blocked) == (key > query));
      left_out += cell_kind(spec, query, key) == CellKind::blocked_value ? 1 : 0;
    }
    CHECK(left_out == std::max<Index>(0, query - 1));
  }
}

TEST_CASE("blocked cells are hatched behind the mask and not before it") {
  const TracedScenario given = traced({"mask.is_causal=true"});
  const StageContent mask = shown(given, Step::mask);
  CHECK(cell_kind(mask.left->spec, 0, 3) == CellKind::value);
  CHECK(cell_kind(mask.result->spec, 0, 3) == CellKind::blocked);
  CHECK(cell_kind(mask.result->spec, 3, 0) == CellKind::value);
  CHECK(cell_kind(shown(given, Step::softmax).result->spec, 0, 3) == CellKind::blocked);
}

TEST_CASE("a mask that fills with a large number does not flatten the colours") {
  const TracedScenario given = traced({"mask.is_causal=true", "mask.value=-1e9"});
  const StageContent mask = shown(given, Step::mask);
  CHECK(mask.result->spec.range.lo > -1000.0);
  CHECK(cell_kind(mask.result->spec, 0, 3) == CellKind::blocked);
}

TEST_CASE("thumbnails are the step's own maps, and the attention weights behind the softmax") {
  const TracedScenario given = traced();
  const auto heads = [&](Step step) { return shown(given, step).head_map; };
  CHECK_FALSE(heads(Step::inputs));
  CHECK_FALSE(heads(Step::project));
  CHECK(heads(Step::split_heads)->matrix.name.id == TensorId::q_heads);
  CHECK(heads(Step::scores)->matrix.name.id == TensorId::scores);
  CHECK(heads(Step::softmax)->matrix.name.id == TensorId::attn_weights);
  CHECK(heads(Step::output)->matrix.name.id == TensorId::attn_weights);
  const StageContent scores = shown(given, Step::scores);
  for (Index head = 0; head < 3; ++head) {
    const StagePart part = part_at_head(*scores.head_map, *given.trace, 0, head);
    CHECK(part.matrix.leading == std::vector<Index>{0, head});
    CHECK(part.spec.range == scores.result->spec.range);
    CHECK(part.spec.values.value(1, 2) == given.trace->tensors.scores->at({0, head, 1, 2}));
  }
}

TEST_CASE("a tensor that no picture of the step makes is shown by itself") {
  const TracedScenario given = traced({"mask.is_causal=true"});
  const StageContent weight = shown(given, Step::project, TensorId::in_proj_weight);
  CHECK(weight.picture == weight.pictures.size());
  CHECK(weight.result->matrix.name.id == TensorId::in_proj_weight);
  CHECK_FALSE(weight.left);
  const StageContent k = shown(given, Step::project, TensorId::k);
  CHECK(k.picture == 1);
  CHECK(k.left);
}

TEST_CASE("where a size is 0 a sentence says which") {
  const TracedScenario no_queries = traced({"inputs.query_length=0"});
  for (const Step step : shown_steps(no_queries.trace->options))
    CHECK_CONTAINS(shown(no_queries, step).nothing, "L is 0");
  const TracedScenario no_keys = traced({"inputs.self_attention=false", "inputs.key_length=0"});
  CHECK(shown(no_keys, Step::inputs).nothing == "");
  CHECK_CONTAINS(shown(no_keys, Step::weighted_sum).nothing, "S is 0");
  CHECK(shown(no_keys, Step::output).nothing == "");
  CHECK(shown(traced({"op=scaled_dot_product_attention"}), Step::project).nothing != "");
}

TEST_CASE("a softmax's figures are its row maximum and the sum of exponentials above it") {
  const auto scores = std::make_shared<Tensor>(
      Shape{{"L", 3}, {"S", 2}}, std::vector<double>{1.0, 3.0, -INFINITY, 2.0, -INFINITY, -INFINITY});
  const SoftmaxFigures figures = softmax_figures(matrix_view(scores));
  CHECK(figures.maximum->at({0, 0}) == 3.0);
  CHECK(figures.exp_sum[0] == doctest::Approx(1.0 + std::exp(-2.0)));
  CHECK(figures.exp_sum[1] == 1.0);
  CHECK(figures.maximum->at({2, 0}) == -INFINITY);
  CHECK(std::isnan(figures.exp_sum[2]));
}

TEST_CASE("a pinned score lights its query row, its key column and what it feeds") {
  const TracedScenario given = traced();
  Selection selection;
  selection.step = Step::scores;
  selection.pinned = CellRef{{TensorId::scores}, {0, 0, 2, 1}};
  const auto marks = stage_marks(*given.trace, selection);
  const StageContent content = shown(given, Step::scores);
  CHECK(marked_row(content.left->matrix, marks) == 2);
  CHECK(marked_col(content.above->matrix, marks) == 1);
  CHECK(marked_row(content.result->matrix, marks) == 2);
  CHECK(marked_col(content.result->matrix, marks) == 1);
  const StageContent scale = shown(given, Step::scale);
  CHECK(marked_row(scale.result->matrix, marks) == 2);
  // Another cell under the mouse speaks first, and the pin stays marked.
  selection.hovered = CellRef{{TensorId::scores}, {0, 0, 3, 0}};
  const auto both = stage_marks(*given.trace, selection);
  CHECK(marked_row(content.result->matrix, both) == 3);
  CHECK(std::ranges::count(both, MarkKind::pinned, &StageMark::kind) == 1);
}

TEST_CASE("nothing is marked without a cell, or with one of a tensor that is gone") {
  const TracedScenario given = traced();
  Selection selection;
  CHECK(stage_marks(*given.trace, selection).empty());
  selection.pinned = CellRef{{TensorId::mask_bias}, {0, 0, 0, 0}};
  CHECK(stage_marks(*given.trace, selection).empty());
}

TEST_CASE("a pinned cell that a smaller trace no longer has is not looked at") {
  const TracedScenario small = traced({"inputs.query_length=2"});
  Selection selection;
  selection.pinned = CellRef{{TensorId::scores}, {0, 2, 3, 3}};
  CHECK_FALSE(focused_cell(*small.trace, selection));
  CHECK(stage_marks(*small.trace, selection).empty());
  CHECK(focused_cell(*traced().trace, selection) == selection.pinned);
}

TEST_CASE("with queries as columns every map of queries and keys is turned, and products stay products") {
  ValueRanges ranges;
  for (const TracedScenario& given : many_scenarios()) {
    for (int step = 0; step < step_count; ++step) {
      for (const StepPicture& picture : step_pictures(static_cast<Step>(step), *given.trace)) {
        Selection selection;
        selection.step = static_cast<Step>(step);
        selection.tensor = picture.result;
        selection.head = std::min<Index>(1, given.trace->options.num_heads - 1);
        const auto at = [&](bool columns) {
          selection.queries_as_columns = columns;
          return stage_content(*given.trace, given.inputs.labels, selection, Theme::dark, ranges);
        };
        const StageContent rows = at(false), columns = at(true);
        CAPTURE(step);
        CAPTURE(std::string(tensor_entry(picture.result).name));
        REQUIRE(columns.result);
        const auto is_turned = [](const std::optional<StagePart>& part) {
          return !part || !is_pair_map(part->matrix) || part->matrix.transposed;
        };
        CHECK(is_turned(columns.result));
        CHECK(is_turned(columns.left));
        CHECK(is_turned(columns.above));
        CHECK(is_turned(columns.head_map));
        const MatrixView& result = columns.result->matrix.view;
        const bool turned = columns.result->matrix.transposed != rows.result->matrix.transposed;
        CHECK(result.rows == (turned ? rows.result->matrix.view.cols : rows.result->matrix.view.rows));
        if (columns.left && picture.result != TensorId::k && picture.result != TensorId::v)
          CHECK(columns.left->matrix.view.rows == result.rows);
        if (columns.above) CHECK(columns.above->matrix.view.cols == result.cols);
        if (columns.left && columns.above && !columns.cell_for_cell) {
          REQUIRE(columns.left->matrix.view.cols == columns.above->matrix.view.rows);
          if (picture.result == TensorId::scores || picture.result == TensorId::head_output) {
            double sum = 0.0;
            for (Index i = 0; i < columns.left->matrix.view.cols; ++i)
              sum +=
                  columns.left->matrix.view.value(result.rows - 1, i) * columns.above->matrix.view.value(i, 0);
            CHECK(sum == doctest::Approx(result.value(result.rows - 1, 0)).epsilon(1e-4));
          }
        }
        // A cell is the same number wherever it stands, and so is its mask.
        const CellRef cell = cell_at(columns.result->matrix, result.rows - 1, 0);
        const double value = result.value(result.rows - 1, 0),
                     stored = given.trace->tensor(cell.tensor)->at(cell.index);
        CHECK((value == stored || (std::isnan(value) && std::isnan(stored))));
        if (columns.result->spec.mask) {
          CHECK(columns.result->spec.mask->value(result.rows - 1, 0) ==
                rows.result->spec.mask->value(0, result.rows - 1));
          check_mask(columns.result->spec);
        }
      }
    }
  }
}
