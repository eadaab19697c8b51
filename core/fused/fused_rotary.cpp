#include "core/fused/fused_rotary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/attention/rotary_embedding.h"

namespace headwise {
namespace {

constexpr Index tokens_at_once = 64;

}  // namespace

FusedRotary::FusedRotary(std::span<const double> inverse_frequencies, Index first_position, Index tokens)
    : pairs_(static_cast<Index>(inverse_frequencies.size())) {
  cosines_.reserve(static_cast<std::size_t>(tokens * pairs_));
  sines_.reserve(static_cast<std::size_t>(tokens * pairs_));
  for (Index token = 0; token < tokens; ++token) {
    for (const double frequency : inverse_frequencies) {
      const double angle = static_cast<double>(first_position + token) * frequency;
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

void FusedRotary::rotate_token(const RotatedRows& rows, Index group, Index token) const {
  const float* const cosines = cosines_.data() + token * pairs_;
  const float* const sines = sines_.data() + token * pairs_;
  const Index row = (group * rows.tokens + token) * rows.heads * rows.width;
  for (Index h = 0; h < rows.heads; ++h) {
    const float* const from = rows.from + row + h * rows.width;
    float* const to = rows.to + row + h * rows.width;
    for (Index j = 0; j < pairs_; ++j) {
      const float a = from[j], b = from[j + pairs_];
      to[j] = a * cosines[j] - b * sines[j];
      to[j + pairs_] = b * cosines[j] + a * sines[j];
    }
    if (to != from) std::copy(from + 2 * pairs_, from + rows.width, to + 2 * pairs_);
  }
}

TaskPhase FusedRotary::rotate(const RotatedRows& rows) const {
  const Index parts = (rows.tokens + tokens_at_once - 1) / tokens_at_once;
  return {rows.groups * parts, [this, rows, parts](Index task, int) {
            const Index group = task / parts, first = task % parts * tokens_at_once;
            const Index last = std::min(first + tokens_at_once, rows.tokens);
            for (Index token = first; token < last; ++token) rotate_token(rows, group, token);
          }};
}

FusedRotations::FusedRotations(const AttentionOptions& options, const AttentionSizes& sizes) : sizes_(sizes) {
  const std::vector<double> frequencies = rotary_inverse_frequencies(options);
  if (frequencies.empty()) return;
  of_q_.emplace(frequencies, rotary_first_query(options, sizes.queries, sizes.keys), sizes.queries);
  of_k_.emplace(frequencies, 0, sizes.keys);
}

TaskPhase FusedRotations::rotate(const FusedRotary& rotary, const Rows& rows, Index tokens,
                                 TensorPtr& rotated) const {
  auto made = std::make_shared<Tensor>(Tensor::unwritten(rows.rows->shape(), DType::f32));
  const RotatedRows rotations{rows.rows->values<float>().data(),
                              made->values<float>().data(),
                              rows.groups,
                              tokens,
                              rows.heads,
                              sizes_.head_dim};
  rotated = std::move(made);
  return rotary.rotate(rotations);
}

std::vector<TaskPhase> FusedRotations::rotate(const Rows& q, const Rows& k) {
  return {rotate(*of_q_, q, sizes_.queries, q_), rotate(*of_k_, k, sizes_.keys, k_)};
}

}  // namespace headwise
