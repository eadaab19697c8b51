#include "core/full_size/weight_tiles.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fused/fused_backend.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/task_threads.h"
#include "tests/core/full_size/made_again.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool alike(float got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::abs(got - expected) <= 1e-6 + 1e-5 * std::abs(expected);
}

}  // namespace

TEST_CASE("every block of every level has the least, the largest and the mean weight of its cells") {
  for (const test::WeightCase& one : test::weight_cases()) {
    CAPTURE(one.name);
    const TracePtr reference = reference_forward(one.inputs);
    const Tensor& weights = *reference->tensors.attn_weights;
    WeightTiles tiles(fused_forward(one.inputs, {.keep_projections = true}));
    const WeightPyramid pyramid(tiles);
    const AttentionSizes& s = tiles.sizes();
    for (const auto& [n, h] : {std::pair<Index, Index>{0, 0}, {1, 5}}) {
      Index block = 1, wrong = 0;
      for (const PyramidLevel& level : pyramid.levels(n, h)) {
        CHECK(level.block == block);
        block *= 2;
        REQUIRE(level.rows == (s.queries + level.block - 1) / level.block);
        REQUIRE(level.cols == (s.all_keys + level.block - 1) / level.block);
        for (Index r = 0; r < level.rows; ++r)
          for (Index c = 0; c < level.cols; ++c) {
            double low = infinity, high = -infinity, sum = 0.0;
            int count = 0;
            for (Index l = r * level.block; l < std::min((r + 1) * level.block, s.queries); ++l)
              for (Index k = c * level.block; k < std::min((c + 1) * level.block, s.all_keys); ++k, ++count) {
                const double w = weights.flat(((n * s.heads + h) * s.queries + l) * s.all_keys + k);
                low = std::isnan(low) || low < w ? low : w;
                high = std::isnan(high) || high > w ? high : w;
                sum += w;
              }
            if (std::isnan(sum)) low = high = sum;
            const auto i = static_cast<std::size_t>(r * level.cols + c);
            wrong +=
                !alike(level.min[i], low) + !alike(level.max[i], high) + !alike(level.mean[i], sum / count);
          }
      }
      CHECK(wrong == 0);
      CHECK(pyramid.levels(n, h).back().min.size() == 1);
    }
  }
}

TEST_CASE("the pyramid keeps within its memory, the same for any number of threads") {
  AttentionInputs inputs = test::as_f32(test::sized_inputs(1, 1500, 1500, 8, 2, 4, 4));
  inputs.options.is_causal = true;
  const TracePtr trace = fused_forward(inputs, {.keep_projections = true});
  std::vector<PyramidLevel> alone;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    WeightTiles tiles(trace);
    const WeightPyramid pyramid(tiles);
    CHECK(pyramid.bytes() <= WeightPyramid::most_bytes);
    CHECK(pyramid.bytes() > WeightPyramid::most_bytes / 8);
    CHECK(pyramid.levels(0, 0).front().block > 1);
    if (alone.empty()) alone = pyramid.levels(0, 7);
    CHECK(pyramid.levels(0, 7).front().mean == alone.front().mean);
    CHECK(pyramid.levels(0, 7).front().max == alone.front().max);
    // Every row sums to 1: the mean of all cells is one over the number of keys.
    CHECK(pyramid.levels(0, 3).back().mean[0] * 1500.0f == doctest::Approx(1.0f).epsilon(1e-4));
  }
}
