#include "app/content/step_facts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/picture/heatmap.h"

namespace headwise {
namespace {

// Null if there is none; a mask may be shared by all sequences or all heads.
std::optional<MatrixView> map_of(const TensorPtr& tensor, Index batch, Index head) {
  if (!tensor || tensor->shape().rank() != 4 || tensor->size() == 0) return std::nullopt;
  const std::array<Index, 2> place{std::clamp<Index>(batch, 0, tensor->shape().size(0) - 1),
                                   std::clamp<Index>(head, 0, tensor->shape().size(1) - 1)};
  return matrix_view(tensor, place);
}

}  // namespace

StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head) {
  const TraceTensors& t = trace.tensors;
  StepFacts facts;
  facts.options = trace.options;
  facts.projection_bias = t.in_proj_bias != nullptr;
  facts.output_bias = t.out_proj_bias != nullptr;
  facts.masked = t.mask_bias != nullptr;
  facts.blocks = false;
  if (const auto mask = step == Step::mask ? map_of(t.mask_bias, batch, head) : std::nullopt) {
    for (Index i = 0; i < mask->rows; ++i)
      for (Index j = 0; j < mask->cols; ++j) {
        const double bias = mask->value(i, j);
        facts.blocks |= bias == -INFINITY;
        facts.adds |= bias != -INFINITY && bias != 0.0;
      }
  }
  if (const auto weights = step == Step::softmax ? map_of(t.attn_weights, batch, head) : std::nullopt) {
    for (Index i = 0; i < weights->rows; ++i) {
      double sum = 0.0;
      for (Index j = 0; j < weights->cols; ++j) sum += weights->value(i, j);
      facts.nan_rows += std::isnan(sum) ? 1 : 0;
      facts.zero_rows += sum == 0.0 ? 1 : 0;
    }
  }
  return facts;
}

}  // namespace headwise
