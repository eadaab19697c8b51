#include "app/stage/mask_convention.h"

#include <imgui.h>

#include <cmath>
#include <limits>

#include "app/widgets/heatmap_view.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Whether this cell is True.
bool is_true(double bias, MaskConvention reading) {
  return (bias == minus_infinity) == (reading == MaskConvention::true_blocks);
}

}  // namespace

bool is_boolean(const MatrixView& mask_bias) {
  for (Index row = 0; row < mask_bias.rows; ++row) {
    for (Index col = 0; col < mask_bias.cols; ++col) {
      const double value = mask_bias.value(row, col);
      if (value != 0.0 && value != minus_infinity) return false;
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
  if (!is_boolean(mask_bias)) {
    throw Error(ExitStatus::usage, {.where = "mask_bias",
                                    .what = "is no boolean mask",
                                    .got = "floats that are added to the scores",
                                    .expected = "only 0 and −inf",
                                    .remedy = "copy it as an np.array of floats"});
  }
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

}  // namespace headwise
