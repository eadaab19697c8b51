#include "app/stage/mask_convention.h"

#include <imgui.h>

#include <cmath>
#include <limits>

#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"
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

void draw_minus_infinities(const WidgetContext& context, ImDrawList* list, const StagePart& part,
                           const PlaneGeometry& plane) {
  if (part.matrix.name != TensorName{TensorId::mask_bias}) return;
  ImFont* font = context.fonts.mono_small;
  const std::string text = "−∞";
  const float width = width_of(font, text);
  const float cell_width = static_cast<float>(plane.width) / static_cast<float>(plane.cols),
              cell_height = static_cast<float>(plane.height) / static_cast<float>(plane.rows);
  if (cell_width < width + 4 || cell_height < font->FontSize) return;
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      if (part.spec.values.value(row, col) != minus_infinity) continue;
      const RectF cell = plane.cell(row, col);
      const ImVec2 at{std::floor(static_cast<float>(cell.x + cell.width / 2) - width / 2),
                      std::floor(static_cast<float>(cell.y + cell.height / 2) - font->FontSize / 2)};
      // On a backing rectangle: the hatching would cross it out.
      list->AddRectFilled({at.x - 1, at.y}, {at.x + width + 1, at.y + font->FontSize},
                          im_color(context.palette.panel, 0.85f));
      list->AddText(font, font->FontSize, at, im_color(context.palette.text), text.c_str());
    }
  }
  ui_probe("digits/−∞", corner(plane), far_corner(plane));
}

bool draw_mask_letters(const WidgetContext& context, ImDrawList* list, const StagePart& part,
                       const PlaneGeometry& plane, MaskConvention reading) {
  if (reading == MaskConvention::added || part.matrix.name != TensorName{TensorId::mask_bias}) return false;
  ImFont* font = context.fonts.mono_small;
  const float width = width_of(font, "T");
  const auto side = [](int length, Index count) {
    return static_cast<float>(length) / static_cast<float>(count);
  };
  const MatrixView& values = part.spec.values;
  if (side(plane.width, plane.cols) < width + 4 || side(plane.height, plane.rows) < font->FontSize - 1 ||
      !is_boolean(values))
    return false;
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      const RectF cell = plane.cell(row, col);
      const bool truth = is_true(values.value(row, col), reading);
      const ImVec2 at{std::floor(static_cast<float>(cell.x + cell.width / 2) - width / 2),
                      std::floor(static_cast<float>(cell.y + cell.height / 2) - font->FontSize / 2)};
      list->AddText(font, font->FontSize, at,
                    im_color(truth ? context.palette.text : context.palette.text_dim), truth ? "T" : "F");
    }
  }
  return true;
}

std::optional<MaskCode> mask_code(CodeStyle style, MaskConvention reading) {
  if (reading == MaskConvention::added) return std::nullopt;
  const bool blocks = reading == MaskConvention::true_blocks;
  const std::string infinity = style == CodeStyle::numpy ? "np.inf" : "math.inf";
  return MaskCode{"attn_mask = mask_bias " + std::string(blocks ? "==" : "!=") + " -" + infinity,
                  blocks ? "True is blocked: torch.nn.MultiheadAttention"
                         : "True takes part: F.scaled_dot_product_attention, ONNX, Keras, Flax"};
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
