#include "app/stage/mask_bars.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <imgui.h>

#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/blocked_cells.h"
#include "core/export/number_text.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr double blocking = -std::numeric_limits<double>::infinity();

// Whether this cell is True.
bool is_true(double bias, MaskConvention reading) {
  return (bias == blocking) == (reading == MaskConvention::true_blocks);
}

// In units.
constexpr double bars_caption_height = 15.0;
constexpr double least_bars_height = 12.0;
constexpr double least_bar = 3.0, widest_bar = 22.0;  // with the gap after it
constexpr double foot_gap = 6.0;

// The largest finite weight of both rows.
double tallest_weight(const std::vector<double>& now, const std::vector<double>& before) {
  double most = 0.0;
  for (const auto* row : {&now, &before})
    for (const double weight : *row)
      if (std::isfinite(weight)) most = std::max(most, weight);
  return most;
}

std::string token_in_quotes(const std::vector<std::string>& labels, Index at, std::string_view axis,
                            const ImFont* font) {
  if (at >= static_cast<Index>(labels.size())) return fmt::format("{} {}", axis, at);
  return "“" + drawable_text(labels[static_cast<std::size_t>(at)], font) + "”";
}

// "weights of “it”: filled = now, outlined = before, “animal” .98 → .00, tallest .98"
std::string row_caption(const PanelContext& context, const CellRef& pair, const std::vector<double>& now,
                        const std::vector<double>& before) {
  const TokenLabels& labels = context.inputs.labels;
  const ImFont* font = context.fonts.small;
  const auto number = [](double weight) { return cell_number(weight, 2, true); };
  const Index key = pair.index[3];
  const auto at = static_cast<std::size_t>(key);
  std::string text = "weights of " + token_in_quotes(labels.query, pair.index[2], "query", font);
  if (!before.empty()) text += ": filled = now, outlined = before";
  if (at < now.size()) {
    const std::string was = before.empty() ? "" : number(before[at]) + " → ";
    text += ", " + token_in_quotes(labels.key, key, "key", font) + " " + was + number(now[at]);
  }
  return text + ", tallest " + number(tallest_weight(now, before));
}

// Places the bars of one row of weights, on one scale.
class RowBars {
 public:
  RowBars(const PanelContext& context, const MaskBarsPlace& place, const PlaneGeometry& result, Index keys,
          double most)
      : context_(context), result_(result), keys_(keys), most_(most), under_columns_(place.under_columns) {
    const double captions = bars_caption_height * context.scale;
    bars_ = {place.rect.x, place.rect.y + captions, place.rect.width, place.rect.height - captions};
  }

  // From the baseline up; of no height for 0 and NaN.
  RectF bar(Index key, double weight) const {
    const double pitch = bars_.width / static_cast<double>(keys_);
    double left = bars_.x + static_cast<double>(key) * pitch, width = pitch - 2.0;
    if (under_columns_) {
      const RectF column = result_.cell(0, key);
      left = column.x;
      width = column.width;
    }
    const double shown = std::min(width, widest_bar * context_.scale);
    const bool counts = std::isfinite(weight) && weight > 0.0 && most_ > 0.0;
    const double height = counts ? std::round(bars_.height * std::min(weight / most_, 1.0)) : 0.0;
    return {std::round(left + (width - shown) / 2), baseline() - height, std::round(shown), height};
  }
  double baseline() const { return std::floor(bars_.y + bars_.height); }

 private:
  const PanelContext& context_;
  const PlaneGeometry& result_;
  Index keys_;
  double most_;
  bool under_columns_;
  RectF bars_;
};

}  // namespace

bool is_boolean(const MatrixView& mask_bias) {
  for (Index row = 0; row < mask_bias.rows; ++row) {
    for (Index col = 0; col < mask_bias.cols; ++col) {
      const double value = mask_bias.value(row, col);
      if (value != 0.0 && value != blocking) return false;
    }
  }
  return true;
}

bool draw_mask_letters(const Painter& paint, const StagePart& part, const PlaneGeometry& plane,
                       MaskConvention reading) {
  if (reading == MaskConvention::added || part.matrix.name != TensorName{TensorId::mask_bias}) return false;
  ImFont* font = paint.fonts.mono_small;
  const float width = width_of(font, "T");
  const auto side = [](int length, Index count) { return float(length) / float(count); };
  const MatrixView& values = part.spec.values;
  if (side(plane.width, plane.cols) < width + 4 || side(plane.height, plane.rows) < font->FontSize - 1 ||
      !is_boolean(values))
    return false;
  const ColorTable& table = color_table(part.spec.color_map, part.spec.theme);
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      const double value = values.value(row, col);
      const bool blocked = cell_kind(part.spec, row, col) == CellKind::blocked;
      const Rgba8 ground = blocked ? blocked_color(part.spec.theme) : color_at(value, part.spec.range, table);
      const std::string letter = is_true(value, reading) ? "T" : "F";
      draw_cell_word(paint, plane.cell(row, col), {letter, ground, blocked});
    }
  }
  return true;
}

std::optional<MaskCode> mask_code(CodeStyle style, MaskConvention reading) {
  if (reading == MaskConvention::added) return std::nullopt;
  const bool blocks = reading == MaskConvention::true_blocks;
  const std::string infinity = style == CodeStyle::numpy ? "np.inf" : "math.inf";
  // Not "attn_mask": above it may stand for one with the other meaning.
  return MaskCode{
      "bool_mask = mask_bias " + std::string(blocks ? "==" : "!=") + " -" + infinity,
      blocks ? "as attn_mask of torch.nn.MultiheadAttention: True is blocked"
             : "as attn_mask of F.scaled_dot_product_attention, also ONNX, Keras, Flax: True takes part"};
}

std::string mask_as_booleans(const MatrixView& mask_bias, MaskConvention reading) {
  if (!is_boolean(mask_bias))
    throw Error(ExitStatus::usage, {.where = "mask_bias",
                                    .what = "is no boolean mask",
                                    .got = "floats that are added to the scores",
                                    .expected = "only 0 and −inf",
                                    .remedy = "copy it as an np.array of floats"});
  std::string text = "np.array([";
  for (Index row = 0; row < mask_bias.rows; ++row) {
    text += row == 0 ? "[" : ",\n          [";
    for (Index col = 0; col < mask_bias.cols; ++col) {
      if (col > 0) text += ", ";
      text += is_true(mask_bias.value(row, col), reading) ? "True" : "False";
    }
    text += "]";
  }
  return text + "])";
}

std::vector<double> weights_of_row(const TensorPtr& weights, Index batch, Index head, Index query) {
  if (!weights || weights->shape().rank() != 4) return {};
  const Shape& shape = weights->shape();
  if (batch >= shape.size(0) || head >= shape.size(1) || query >= shape.size(2)) return {};
  std::vector<double> row;
  for (Index key = 0; key < shape.size(3); ++key) row.push_back(weights->at({batch, head, query, key}));
  return row;
}

std::optional<MaskBarsPlace> mask_bars_place(const StageLayout& layout, const RectF& area, double used_right,
                                             Index keys, bool queries_as_columns, double scale) {
  if (layout.bars.empty() || keys <= 0) return std::nullopt;
  // The line of the colour bars' captions is the first below the labels of the columns.
  const double top = layout.bars.front().y - 18.0 * scale, bottom = area.y + area.height;
  if (bottom - top < (bars_caption_height + least_bars_height) * scale) return std::nullopt;
  const RectF& result = layout.result;
  if (!queries_as_columns && used_right + foot_gap * scale <= result.x)
    return MaskBarsPlace{{result.x, top, result.width, bottom - top}, true};
  const double left = std::max(used_right + 4.0 * foot_gap * scale, area.x), width = area.x + area.width - left;
  if (width < least_bar * scale * static_cast<double>(keys)) return std::nullopt;
  const double most = (widest_bar + 2.0) * scale * static_cast<double>(keys);
  return MaskBarsPlace{{left, top, std::min(width, most), bottom - top}, false};
}

void draw_mask_bars(const PanelContext& context, const StageContent& content, const StageLayout& layout,
                    const RectF& area, double used_right, const CellRef& pair, const TensorPtr& before) {
  if (!content.result || pair.index.size() != 4) return;
  const Index batch = context.selection.batch, head = context.selection.head, query = pair.index[2];
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const std::vector<double> now = weights_of_row(weights, batch, head, query);
  std::vector<double> was = weights_of_row(before, batch, head, query);
  if (was.size() != now.size()) was.clear();
  const auto keys = static_cast<Index>(now.size());
  const bool turned = context.selection.queries_as_columns;
  const auto place = mask_bars_place(layout, area, used_right, keys, turned, context.scale);
  if (!place) return;

  const PlaneGeometry result = part_plane(layout.result, *content.result);
  const RowBars bars(context, *place, result, keys, tallest_weight(now, was));
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const float line = std::max(1.0f, std::round(palette.stroke * context.scale));
  const auto baseline = float(bars.baseline());
  const RectF first = bars.bar(0, 0.0), last = bars.bar(keys - 1, 0.0);
  paint.fill({corner(first).x, baseline - line}, {far_corner(last).x, baseline}, palette.text_faint);
  for (Index key = 0; key < keys; ++key) {
    const auto at = static_cast<std::size_t>(key);
    const RectF filled = bars.bar(key, now[at]);
    paint.fill(filled, palette.bar);
    ui_probe(fmt::format("stage/mask_bars/now/{}", key), filled);
    if (is_blocked(context.trace, {TensorId::attn_weights}, {batch, head, query, key}))
      paint.fill({corner(filled).x, baseline - 3 * line}, {far_corner(filled).x, baseline},
                 blocked_color(context.theme));
    if (was.empty()) continue;
    const RectF outlined = bars.bar(key, was[at]);
    if (outlined.height > 0.0) paint.outline(outlined, palette.text, line);
    ui_probe(fmt::format("stage/mask_bars/before/{}", key), outlined);
  }
  ImFont* small = context.fonts.small;
  const auto room = float(area.x + area.width - place->rect.x);
  const std::string words = fitted_clauses(row_caption(context, pair, now, was), small, room);
  paint.text(small, {corner(place->rect).x, corner(place->rect).y}, palette.text_dim, words);
  ui_text_probe(words, corner(place->rect));
  ui_probe("stage/mask_bars", place->rect);
}

}  // namespace headwise
