// Smaller blocks of a map than those that are kept of all heads, made where somebody looks.
#include "app/session/full_size_runs.h"

#include <chrono>
#include <cmath>
#include <thread>

#include "app/panels/full_size_sheet.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

// 2,048 tokens: the pyramid of eight heads keeps blocks of 4 × 4 cells.
const FullSizeResultPtr& large_result() {
  static const FullSizeResultPtr result = full_size_run(
      {.model = 0, .length = 2048, .is_causal = true, .hand_made = true, .backend = BackendId::fused});
  REQUIRE(result->error.empty());
  return result;
}

std::shared_ptr<const WeightTiles> tiles_of(const FullSizeResultPtr& result) {
  return {result, result->tiles.get()};
}

void wait_for_maps(const FinerMaps& finer) {
  for (int i = 0; finer.working() && i < 3000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE_FALSE(finer.working());
}

}  // namespace

TEST_CASE("between stored blocks and cells a map is as fine as its pixels, with the numbers of all weights") {
  const FullSizeResultPtr& result = large_result();
  const Index stored = result->pyramid->levels(0, 3).front().block;
  REQUIRE(stored == 4);
  FinerMaps finer;
  finer.begin(tiles_of(result));
  const CellRange rows{300, 1700}, cols{102, 1502};
  for (const auto statistic : {BlockStatistic::largest, BlockStatistic::mean, BlockStatistic::least}) {
    const auto part_of = [&](double pixels) {
      return map_part(*result, 3, rows, cols, statistic, pixels, Theme::dark, &finer);
    };
    CHECK(part_of(600.0).block == 2);
    wait_for_maps(finer);
    const MapPart part = part_of(600.0);
    CHECK(part.coarse.empty());
    REQUIRE(part.rows == rows);
    REQUIRE(part.cols == cols);
    std::vector<float> weights(1400 * 1400);
    result->tiles->tile(0, 3, rows, cols, weights.data());
    double worst = 0.0;
    for (Index r = 0; r < 700; ++r)
      for (Index c = 0; c < 700; ++c) {
        const auto w = [&](Index dr, Index dc) {
          return static_cast<double>(weights[static_cast<std::size_t>((2 * r + dr) * 1400 + 2 * c + dc)]);
        };
        const double a = w(0, 0), b = w(0, 1), d = w(1, 0), e = w(1, 1);
        const double expected = statistic == BlockStatistic::largest ? std::max({a, b, d, e})
                                : statistic == BlockStatistic::least ? std::min({a, b, d, e})
                                                                     : (a + b + d + e) / 4.0;
        worst = std::max(worst, std::abs(part.spec.values.value(r, c) - expected));
      }
    CHECK(worst < 1e-6);
  }
  // As many pixels as cells: the cells; few pixels: what is stored, and nothing is asked for.
  map_part(*result, 3, rows, cols, BlockStatistic::largest, 1400.0, Theme::dark, &finer);
  wait_for_maps(finer);
  CHECK(map_part(*result, 3, rows, cols, BlockStatistic::largest, 1400.0, Theme::dark, &finer).coarse.empty());
  const MapPart far = map_part(*result, 3, rows, cols, BlockStatistic::largest, 350.0, Theme::dark, &finer);
  CHECK(far.block == stored);
  CHECK_FALSE(finer.working());
}

TEST_CASE("until smaller blocks come the larger ones are shown and told as what they are") {
  const FullSizeResultPtr& result = large_result();
  FinerMaps finer;  // of no weights yet: nothing comes
  const auto part_of = [&] {
    return map_part(*result, 3, {0, 2048}, {0, 2048}, BlockStatistic::largest, 1024.0, Theme::dark, &finer);
  };
  CHECK(part_of().block == 4);
  finer.begin(tiles_of(result));
  const MapPart coarse = part_of();
  CHECK(coarse.block == 2);
  const PyramidLevel& stored = result->pyramid->levels(0, 3).front();
  CHECK(coarse.coarse.size() == 64);  // pieces of 256 × 256 cells
  CHECK_CONTAINS(map_cell_text(*result, coarse, 3, 1), "queries 4 … 7 → keys 0 … 3");
  wait_for_maps(finer);
  const MapPart fine = part_of();
  CHECK(fine.coarse.empty());
  CHECK_CONTAINS(map_cell_text(*result, fine, 3, 1), "queries 6 … 7 → keys 2 … 3");
  // No spike is lost on the way: the largest of four is the stored one.
  double worst = 0.0;
  for (Index r = 0; r < 512; ++r)
    for (Index c = 0; c < 512; ++c) {
      double most = 0.0;
      for (Index i = 0; i < 4; ++i)
        most = std::max(most, fine.spec.values.value(2 * r + i / 2, 2 * c + i % 2));
      worst = std::max(worst, std::abs(most - stored.max[static_cast<std::size_t>(r * 512 + c)]));
    }
  CHECK(worst < 1e-6);
  // From nearer by, the blocks of 2 are what is shown until the cells come.
  const std::vector<FinerPiece> nearer = finer.look({3, 1, {0, 1100}, {128, 1228}});
  for (const FinerPiece& piece : nearer) {
    REQUIRE(piece.blocks);
    CHECK(piece.blocks->block <= 2);
  }
}

TEST_CASE("what is kept is bounded, and what is not looked at any more is not made") {
  const FullSizeResultPtr& result = large_result();
  FinerMaps finer;
  finer.begin(tiles_of(result));
  for (Index head = 0; head < 4; ++head) {
    finer.look({head, 1, {0, 2048}, {0, 2048}});  // 48 MiB each
    wait_for_maps(finer);
    CHECK(finer.bytes() <= FinerMaps::most_bytes);
    for (const FinerPiece& piece : finer.look({head, 1, {0, 2048}, {0, 2048}})) CHECK(piece.blocks);
  }
  CHECK(finer.bytes() > FinerMaps::most_bytes / 2);
  CHECK_FALSE(FinerMaps::fits({0, 1, {0, 4096}, {0, 4096}}));
  CHECK(finer.look({0, 1, {0, 4096}, {0, 4096}}).empty());
  // Another view takes the place of the one before; what was begun of it is brought to its end,
  // the rest is not.
  const std::uint64_t before = finer.arrived();
  for (Index head = 4; head < 8; ++head) finer.look({head, 1, {0, 2048}, {0, 2048}});
  finer.look({4, 2, {0, 256}, {0, 256}});
  wait_for_maps(finer);
  CHECK(finer.arrived() - before < 200);  // of 4 · 256
  finer.look({5, 1, {0, 2048}, {0, 2048}});
  finer.suspend();
  finer.look({6, 1, {0, 2048}, {0, 2048}});
  finer.end();
  CHECK_FALSE(finer.working());
  CHECK(finer.bytes() == 0);
  CHECK(finer.look({6, 1, {0, 2048}, {0, 2048}}).empty());
}

TEST_CASE("a head in the window becomes sharp by itself, and another run or closing lets go of it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("Z").run_frames(6);
  FullSizeState& state = bench.state().dialogs.full_size;
  FullSizeRuns& runs = bench.state().document.full_size_runs;
  runs.cancel();
  bench.ui->run_frames(2);
  state.request = large_result()->request;
  const auto run = [&] {
    bench.ui->click("full_size/run");
    for (int i = 0; runs.running() && i < 3000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    bench.ui->run_frames(3);
  };
  run();
  state.maps.head = 3;
  state.maps.zoom = {300.0, 100.0, 1040.0};
  bench.ui->run_frames(1);
  CHECK(state.maps.parts.front().block < 4);
  wait_for_maps(runs.finer());
  bench.ui->run_frames(2);
  CHECK(state.maps.parts.front().coarse.empty());
  CHECK(runs.finer().bytes() > 0);
  run();
  wait_for_maps(runs.finer());
  bench.ui->run_frames(2);
  CHECK(state.maps.parts.front().coarse.empty());  // of the new one
  bench.ui->key("Escape").run_frames(2);
  CHECK(runs.finer().bytes() == 0);
}
