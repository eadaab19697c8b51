// What the view of gradients shows and where, without a window.
#include "app/stage/views.h"

#include <doctest/doctest.h>

#include <cmath>

#include "app/content/paired_layout.h"
#include "app/session/gradients.h"
#include "core/attention/rules.h"
#include "tests/app/stage/stage_trace.h"

using namespace headwise;

namespace {

TracedScenario gradients_traced_back(std::initializer_list<std::string> settings = {}) {
  TracedScenario given = traced(settings);
  const TensorPtr weights = loss_gradient(resolved_loss({}, *given.trace, nullptr), *given.trace, nullptr);
  given.trace = reference_backward(*given.trace, weights);
  return given;
}

std::vector<GradientPair> pairs_at(const TracedScenario& given, Step step,
                                   std::optional<TensorId> tensor = {}, Index head = 0) {
  static ValueRanges values;
  static GradientRanges ranges;
  Selection selection;
  selection.step = step;
  selection.tensor = tensor;
  selection.head = head;
  return gradient_pairs(
      *given.trace, stage_content(*given.trace, given.inputs.labels, selection, Theme::dark, values), ranges);
}

bool inside(const RectF& rect, const RectF& area) {
  return rect.x >= area.x && rect.y >= area.y && rect.x + rect.width <= area.x + area.width + 0.5 &&
         rect.y + rect.height <= area.y + area.height + 0.5;
}
bool apart(const RectF& a, const RectF& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}

}  // namespace

TEST_CASE("every picture of every step has its tensors beside their gradients, cell for cell the trace's") {
  const std::vector<TracedScenario> scenarios = {
      gradients_traced_back(),
      gradients_traced_back({"mask.is_causal=true", "attention.dropout=0.25", "attention.residual=true",
                             "attention.layer_norm=true", "inputs.batch=2"}),
      gradients_traced_back({"attention.num_heads=4", "attention.num_kv_heads=2",
                             "inputs.self_attention=false", "inputs.key_length=7",
                             "attention.add_bias_kv=true", "attention.add_zero_attn=true", "mask.value=-1e9",
                             "mask.is_causal=true"}),
      gradients_traced_back({"attention.kdim=6", "attention.vdim=8", "inputs.self_attention=false"}),
      gradients_traced_back({"op=scaled_dot_product_attention"})};
  for (const TracedScenario& given : scenarios) {
    for (int step = 0; step < step_count; ++step) {
      for (const StepPicture& picture : step_pictures(static_cast<Step>(step), *given.trace)) {
        const auto pairs = pairs_at(given, static_cast<Step>(step), picture.result, 1);
        CAPTURE(step);
        CAPTURE(std::string(tensor_entry(picture.result).name));
        REQUIRE_FALSE(pairs.empty());
        CHECK(pairs[0].gradient.has_value() == (picture.result != TensorId::attn_output_weights));
        for (const GradientPair& pair : pairs) {
          CHECK(pair.gradient.has_value() == pair.absent.empty());
          if (!pair.gradient) continue;
          const MatrixView& view = pair.gradient->spec.values;
          REQUIRE(view.rows == pair.value.spec.values.rows);
          REQUIRE(view.cols == pair.value.spec.values.cols);
          CHECK(pair.gradient->row_labels == pair.value.row_labels);
          for (Index row = 0; row < view.rows; ++row) {
            for (Index col = 0; col < view.cols; ++col) {
              const CellRef cell = cell_at(pair.gradient->matrix, row, col);
              CHECK(cell.tensor.gradient);
              CHECK(cell.index == cell_at(pair.value.matrix, row, col).index);
              CHECK(view.value(row, col) == given.trace->tensor(cell.tensor)->at(cell.index));
              CHECK(std::abs(view.value(row, col)) <= pair.gradient->spec.range.hi);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a gradient has a diverging range of its own map, and says which") {
  const TracedScenario given = gradients_traced_back();
  const auto scores = pairs_at(given, Step::scores);
  REQUIRE(scores.size() == 3);
  CHECK(scores[0].gradient->spec.range_note == "grad.scores, this head");
  CHECK(scores[1].gradient->spec.range_note == "grad.q_heads, this head");
  CHECK(pairs_at(given, Step::softmax)[0].gradient->spec.color_map == ColorMap::blue_orange);
  CHECK(pairs_at(given, Step::softmax)[0].value.spec.color_map == ColorMap::viridis);
  const auto project = pairs_at(given, Step::project);
  CHECK(project[0].gradient->spec.range_note == "grad.q");
  CHECK(project[2].gradient->spec.range_note == "grad.in_proj_weight[0:12]");
  double largest = 0.0;
  const MatrixView& view = scores[0].gradient->spec.values;
  for (Index i = 0; i < 16; ++i) largest = std::max(largest, std::abs(view.value(i / 4, i % 4)));
  CHECK(scores[0].gradient->spec.range == ValueRange{-largest, largest});
  CHECK_FALSE(scores[0].gradient->spec.range == pairs_at(given, Step::scores, {}, 1)[0].gradient->spec.range);
}

TEST_CASE("the operand that stands transposed in the product stands as it is stored beside its gradient") {
  const auto pairs = pairs_at(
      gradients_traced_back({"inputs.source=text", "inputs.text=the cat sat down here"}), Step::scores);
  REQUIRE(pairs.size() == 3);
  CHECK_FALSE(pairs[2].value.matrix.transposed);
  CHECK(pairs[2].value.matrix.row_axis == "S");
  CHECK(pairs[2].value.matrix.view.rows == 5);
  CHECK(pairs[2].value.row_labels != nullptr);
  CHECK(cell_at(pairs[2].gradient->matrix, 4, 1).index == std::vector<Index>{0, 0, 4, 1});
}

TEST_CASE("blocked cells are hatched in gradients before the softmax, where they get none, not behind it") {
  const TracedScenario given = gradients_traced_back({"mask.is_causal=true"});
  for (const auto& [step, hatched] :
       {std::pair(Step::scores, true), {Step::scale, true}, {Step::mask, true}, {Step::softmax, false}}) {
    const GradientPair pair = pairs_at(given, step)[0];
    CAPTURE(static_cast<int>(step));
    CHECK((cell_kind(pair.gradient->spec, 0, 3) == CellKind::blocked) == hatched);
    CHECK(cell_kind(pair.gradient->spec, 3, 0) == CellKind::value);
  }
}

TEST_CASE("with layer norm the window's default loss has gradients beyond rounding, Σ output has none") {
  const TracedScenario given = gradients_traced_back({"attention.layer_norm=true"});
  const auto largest = [](const Tensor& tensor) {
    double most = 0.0;
    for (Index i = 0; i < tensor.size(); ++i) most = std::max(most, std::abs(tensor.flat(i)));
    return most;
  };
  CHECK(largest(*given.trace->grad.output) > 1e-2);
  CHECK(largest(*reference_backward(*given.trace)->grad.output) < 1e-5);
}

TEST_CASE("pairs lie inside their area and apart, the result above its operands") {
  const std::vector<LabelledShape> scores{{12, 12, 60, 60}, {12, 16, 60, 0}, {12, 16, 60, 0}};
  const std::vector<LabelledShape> project{{12, 128, 60, 0}, {12, 128, 60, 0}, {128, 128, 0, 0}};
  const std::vector<LabelledShape> uneven{{2, 3, 60, 60}, {300, 16, 60, 0}};
  for (const auto& shapes : {scores, project, uneven}) {
    for (const double scale : {1.0, 1.5, 3.0}) {
      for (double width = 60; width < 1400; width += 67) {
        for (double height = 40; height < 1000; height += 83) {
          const RectF area{10, 20, width, height};
          const GradientLayout layout = gradient_layout(shapes, area, scale);
          CAPTURE(width);
          CAPTURE(height);
          std::vector<RectF> planes;
          for (const PairPlace& pair : layout.pairs) {
            for (const RectF& rect : {pair.value, pair.gradient}) {
              CHECK(inside(rect, area));
              CHECK(rect.height > 0);
              planes.push_back(rect);
            }
            CHECK(pair.value.width == pair.gradient.width);
            if (pair.value_bar.height > 0) CHECK(inside(pair.value_bar, area));
            if (pair.gradient_bar.height > 0) CHECK(inside(pair.gradient_bar, area));
          }
          for (std::size_t i = 0; i < planes.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) CHECK(apart(planes[i], planes[j]));
          }
          for (std::size_t i = 1; i < layout.pairs.size(); ++i)
            CHECK(layout.pairs[i].value.y > layout.pairs[0].value.y + layout.pairs[0].value.height);
        }
      }
    }
  }
}

TEST_CASE("there is room for the result and both operands in a window of 1280×720, for the result in less") {
  const std::vector<LabelledShape> scores{{12, 12, 60, 60}, {12, 16, 60, 0}, {12, 16, 60, 0}};
  CHECK(gradient_layout(scores, {0, 0, 560, 420}, 1.0).pairs.size() == 3);
  CHECK(gradient_layout(scores, {0, 0, 560, 220}, 1.0).pairs.size() == 1);
  CHECK(gradient_layout(scores, {0, 0, 100, 420}, 1.0).pairs.empty());
  CHECK(gradient_layout(scores, {0, 0, 560, 20}, 1.0).pairs.empty());
  CHECK(gradient_layout({}, {0, 0, 560, 420}, 1.0).pairs.empty());
}
