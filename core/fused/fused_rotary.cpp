#include "core/fused/fused_rotary.h"

#include <algorithm>
#include <cmath>

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

void FusedRotary::turn_token(const TurnedRows& rows, Index group, Index token) const {
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

TaskPhase FusedRotary::turn(const TurnedRows& rows) const {
  const Index parts = (rows.tokens + tokens_at_once - 1) / tokens_at_once;
  return {rows.groups * parts, [this, rows, parts](Index task, int) {
            const Index group = task / parts, first = task % parts * tokens_at_once;
            const Index last = std::min(first + tokens_at_once, rows.tokens);
            for (Index token = first; token < last; ++token) turn_token(rows, group, token);
          }};
}

}  // namespace headwise
