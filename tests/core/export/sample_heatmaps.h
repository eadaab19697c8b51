// Heatmaps to draw: waves of numbers, with what can happen to a cell.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/export/heatmap.h"
#include "core/export/image.h"

namespace headwise {

inline MatrixView matrix_of(Index rows, Index cols, std::vector<double> values) {
  return matrix_view(std::make_shared<Tensor>(Shape{{"L", rows}, {"S", cols}}, std::move(values)));
}

// rows×cols numbers in (-4, 4), titled and with named axes.
inline HeatmapSpec sample_heatmap(Index rows, Index cols) {
  std::vector<double> values(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 4.0 * std::sin(static_cast<double>(i) * 1.7);
  HeatmapSpec spec;
  spec.values = matrix_of(rows, cols, std::move(values));
  spec.range = {-4.0, 4.0};
  spec.range_note = "fixed";
  spec.title = "scores[0,0] — L×S = " + std::to_string(rows) + "×" + std::to_string(cols);
  spec.row_axis = "query";
  spec.col_axis = "key";
  return spec;
}

// The cells of `spec` with a NaN, both infinities, a blocked cell and a blocked one that kept its value.
inline HeatmapSpec with_every_kind(HeatmapSpec spec) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor values = *spec.values.tensor;
  Tensor mask(values.shape(), DType::f64);
  values.set_flat(0, std::nan(""));
  values.set_flat(1, infinity);
  values.set_flat(2, -infinity);
  values.set_flat(3, -infinity);
  mask.set_flat(3, -infinity);
  values.set_flat(4, 0.5);
  mask.set_flat(4, -infinity);
  spec.values.tensor = std::make_shared<Tensor>(std::move(values));
  spec.mask = spec.values;
  spec.mask->tensor = std::make_shared<Tensor>(std::move(mask));
  return spec;
}

inline std::vector<std::string> sample_tokens(Index count) {
  static const std::array<const char*, 7> words = {
      "The",  "animal", "didn't", "extraordinarily-long-hyphenated-token", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
      "a\nb", "<&>\"'"};
  std::vector<std::string> tokens;
  for (Index i = 0; i < count; ++i) tokens.emplace_back(words[static_cast<std::size_t>(i) % words.size()]);
  return tokens;
}

inline Rgba8 pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                           static_cast<std::size_t>(x))];
  return {p[0], p[1], p[2], p[3]};
}

}  // namespace headwise
