#include "core/full_size/weight_tiles.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/fused/fused_backend.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "tests/core/full_size/made_again.h"

using namespace headwise;

namespace {

bool alike(float got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::abs(got - expected) <= 1e-6 + 1e-5 * expected && (expected != 0.0 || got == 0.0f);
}

}  // namespace

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
              wrong += !alike(strip[(query - first) * tiles.step() + key], expected(n, h, query, key));
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
          wrong += !alike(*cell++, expected(1, 4, query, key));
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
