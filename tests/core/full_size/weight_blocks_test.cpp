#include "core/full_size/weight_tiles.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "core/fused/fused_backend.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "tests/core/full_size/made_again.h"

using namespace headwise;

namespace {

bool alike(float got, float expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::abs(got - expected) <= 1e-6f + 1e-5f * std::abs(expected);
}

}  // namespace

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
            wrong += !alike(made.min[got], level.min[expected]) + !alike(made.max[got], level.max[expected]) +
                     !alike(made.mean[got], level.mean[expected]);
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
