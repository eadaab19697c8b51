// The weights of a full-size run: computed in blocks, kept as a pyramid, shown as tiles.
#include "core/backend/weight_tiles.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/attention/reference_backend.h"
#include "core/fused/fused_backend.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "tests/core/backend/made_again.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool alike_levels(float got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::abs(got - expected) <= 1e-6 + 1e-5 * std::abs(expected);
}

bool alike_levels(float got, float expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::abs(got - expected) <= 1e-6f + 1e-5f * std::abs(expected);
}

// A blocked weight is exactly 0.
bool same_weight(float got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::abs(got - expected) <= 1e-6 + 1e-5 * expected && (expected != 0.0 || got == 0.0f);
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
            wrong += !alike_levels(level.min[i], low) + !alike_levels(level.max[i], high) +
                     !alike_levels(level.mean[i], sum / count);
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

TEST_CASE("blocks of any part are those of the pyramid of all weights, with every option") {
  for (const test::WeightCase& one : test::weight_cases()) {
    CAPTURE(one.name);
    WeightTiles tiles(fused_forward(one.inputs, {.keep_projections = true}));
    const WeightPyramid pyramid(tiles);
    const AttentionSizes& s = tiles.sizes();
    Index wrong = 0, compared = 0;
    for (const PyramidLevel& level : pyramid.levels(1, 4)) {
      if (level.block > 16) break;
      // The whole, a part in the middle, and one that ends with the map: 70 × 133 cells.
      for (const auto& [queries, keys] : {std::pair{CellRange{0, s.queries}, CellRange{0, s.all_keys}},
                                          {CellRange{16, 48}, CellRange{64, 112}},
                                          {CellRange{64, s.queries}, CellRange{112, s.all_keys}}}) {
        const PyramidLevel made = weight_blocks(tiles, 1, 4, level.block, queries, keys);
        REQUIRE(made.block == level.block);
        REQUIRE(made.rows == whole_parts(queries.size(), level.block));
        REQUIRE(made.cols == whole_parts(keys.size(), level.block));
        for (Index r = 0; r < made.rows; ++r)
          for (Index c = 0; c < made.cols; ++c, ++compared) {
            const auto got = static_cast<std::size_t>(r * made.cols + c);
            const auto expected = static_cast<std::size_t>((queries.first / level.block + r) * level.cols +
                                                           keys.first / level.block + c);
            wrong += !alike_levels(made.min[got], level.min[expected]) +
                     !alike_levels(made.max[got], level.max[expected]) +
                     !alike_levels(made.mean[got], level.mean[expected]);
          }
      }
    }
    CHECK(compared > 10000);
    CHECK(wrong == 0);
  }
}

TEST_CASE("blocks that nobody wants any more are not made") {
  WeightTiles tiles(fused_forward(test::weight_cases().front().inputs, {.keep_projections = true}));
  const WeightPyramid pyramid(tiles);
  const std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  CHECK_THROWS_AS(weight_blocks(tiles, 0, 0, 2, {0, 70}, {0, 133}), Error);
}

TEST_CASE("strips and tiles of weights are the reference's, with every option that a weight depends on") {
  for (const test::WeightCase& one : test::weight_cases()) {
    CAPTURE(one.name);
    const TracePtr reference = reference_forward(one.inputs);
    const Tensor& weights = *reference->tensors.attn_weights;
    WeightTiles tiles(fused_forward(one.inputs, {.keep_projections = true}));
    const AttentionSizes& s = tiles.sizes();
    WeightTiles::Scratch scratch = tiles.scratch();
    const auto expected = [&](Index n, Index h, Index query, Index key) {
      return weights.flat(((n * s.heads + h) * s.queries + query) * s.all_keys + key);
    };
    Index wrong = 0;
    for (Index n = 0; n < s.batch; ++n)
      for (Index h = 0; h < s.heads; ++h)
        for (Index first = 0; first < s.queries; first += WeightTiles::most_queries) {
          const CellRange queries{first, std::min(first + WeightTiles::most_queries, s.queries)};
          const float* const strip = tiles.strip(n, h, queries, scratch);
          for (Index query = queries.first; query < queries.last; ++query)
            for (Index key = 0; key < s.all_keys; ++key)
              wrong += !same_weight(strip[(query - first) * tiles.step() + key], expected(n, h, query, key));
        }
    CHECK(wrong == 0);
    // Tiles that begin and end anywhere, the whole and a single cell among them.
    for (const auto& [queries, keys] : {std::pair{CellRange{0, 70}, CellRange{0, 133}},
                                        {CellRange{3, 41}, CellRange{63, 130}},
                                        {CellRange{69, 70}, CellRange{132, 133}},
                                        {CellRange{31, 33}, CellRange{64, 65}}}) {
      std::vector<float> tile(static_cast<std::size_t>(queries.size() * keys.size()));
      tiles.tile(1, 4, queries, keys, tile.data());
      auto cell = tile.begin();
      for (Index query = queries.first; query < queries.last; ++query)
        for (Index key = keys.first; key < keys.last; ++key)
          wrong += !same_weight(*cell++, expected(1, 4, query, key));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("weights are not made again of a trace that cannot tell them") {
  const AttentionInputs inputs = test::sized_inputs(1, 4, 4, 2, 2, 8, 8);
  const auto held = std::make_shared<Trace>(*reference_forward(inputs));
  held->options.frozen_heads = {0};
  CHECK_THROWS_AS(WeightTiles{held}, Error);
  const auto trace = std::make_shared<Trace>(*fused_forward(test::as_f32(inputs), {.keep_projections = true}));
  trace->tensors.k = nullptr;
  CHECK_THROWS_AS(WeightTiles{trace}, Error);
}
