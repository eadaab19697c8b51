#include "core/gpu/gpu_tuning.h"

#include <doctest/doctest.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "core/gpu/gpu_faults.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

namespace {

using Shader = TileCandidate::Shader;

GpuLimits card() {
  return {.shared_bytes = 49152,
          .storage_block_bytes = Index{1} << 30,
          .offset_alignment = 16,
          .groups_x = 65535,
          .groups_y = 65535,
          .tiles = usual_tiles(false)};
}

}  // namespace

TEST_CASE("the candidates for a run are every tile that fits, first the usual ones of its two shaders") {
  for (const auto& [width, attention, fitting] :
       {std::tuple<Index, Shader, std::size_t>{64, Shader::attention_64, 8},
        {65, Shader::attention_128, 8},
        {256, Shader::attention_256, 6}}) {
    CAPTURE(width);
    const std::vector<Shader> shaders = shaders_of({.head_dim = 8, .v_head_dim = width});
    CHECK(shaders == std::vector{Shader::product, attention});
    const std::vector<TileCandidate> all = tile_candidates(shaders, card());
    CHECK(all.size() == fitting);
    CHECK(std::set(all.begin(), all.end()).size() == fitting);
    REQUIRE(all.size() >= 2);
    CHECK(all[0] == TileCandidate{Shader::product, usual_tiles(false).product});
    CHECK(all[1].shader == attention);
    CHECK(all[1].choice == usual_tiles(false).attention[static_cast<std::size_t>(attention) - 1]);
  }
  GpuLimits little = card();
  little.shared_bytes = 16384;
  for (const TileCandidate& candidate : tile_candidates({Shader::attention_64}, little))
    CHECK_FALSE(candidate.choice.large);
}

TEST_CASE(
    "another tile than the usual one is chosen if it is clearly faster, and only where the usual one was "
    "timed") {
  const TileChoices usual = usual_tiles(false);
  CHECK(fastest_tiles({}, usual) == usual);
  const TileChoice other{!usual.product.large, usual.product.loads_ahead};
  TileSpeeds speeds{{{Shader::product, other}, 200.0}};
  CHECK(fastest_tiles(speeds, usual) == usual);
  speeds[{Shader::product, usual.product}] = 199.0;
  CHECK(fastest_tiles(speeds, usual) == usual);
  speeds[{Shader::product, usual.product}] = 150.0;
  TileChoices expected = usual;
  expected.product = other;
  CHECK(fastest_tiles(speeds, usual) == expected);
  // Each shader by itself, and of several faster ones the fastest.
  for (std::size_t i = 0; i < usual.attention.size(); ++i) {
    const auto shader = static_cast<Shader>(i + 1);
    const TileChoice own = usual.attention[i];
    speeds[{shader, own}] = 100.0;
    speeds[{shader, {own.large, !own.loads_ahead}}] = 120.0;
    speeds[{shader, {!own.large, own.loads_ahead}}] = 130.0;
    expected.attention[i] = {!own.large, own.loads_ahead};
    CHECK(fastest_tiles(speeds, usual) == expected);
  }
}

TEST_CASE("speeds survive being written and read, and lines that are none are left out") {
  const TileSpeeds speeds{{{Shader::product, {true, false}}, 3.25e9},
                          {{Shader::attention_64, {false, true}}, 0.5},
                          {{Shader::attention_256, {true, true}}, 1e-3}};
  CHECK(tile_speeds(tile_speeds_text(speeds)) == speeds);
  CHECK(tile_speeds_text({}).empty());
  for (const char* text :
       {"", "\n\n", "product", "product large ahead", "product large ahead ", "product large ahead fast",
        "product large ahead 12x", "product large ahead 0", "product large ahead -5",
        "product large ahead inf", "product large ahead nan", "product wide ahead 5", "product large late 5",
        "softmax large ahead 5", " product large ahead 5", "product  large ahead 5"}) {
    CAPTURE(text);
    CHECK(tile_speeds(text).empty());
  }
  CHECK(tile_speeds("nonsense\nproduct small ahead 5\nproduct large").size() == 1);
}

TEST_CASE("tiles are timed on the GPU until the time is up, and what is known is not timed again") {
  const auto context = context_or_skip();
  if (!context) return;
  GpuLimits limits = gpu_limits();
  limits.tiles = usual_tiles(false);
  const std::vector<Shader> shaders{Shader::product, Shader::attention_64};
  const std::vector<TileCandidate> candidates = tile_candidates(shaders, limits);
  // A clock on which a candidate takes 300 milliseconds, looked at before and after each.
  double clock = 0.0;
  TileTimer timer{.parts = 16, .milliseconds = [&clock] { return clock += 150.0; }};
  const TileSpeeds some = time_tiles(shaders, limits, {}, timer);
  CHECK(some.size() < candidates.size());
  CHECK(some.size() >= 2);
  for (std::size_t i = 0; i < some.size(); ++i) CHECK(some.contains(candidates[i]));
  timer.most_milliseconds = 1e9;
  const TileSpeeds all = time_tiles(shaders, limits, some, timer);
  CHECK(all.size() == candidates.size());
  for (const auto& [candidate, speed] : all) CHECK(speed > 0.0);
  for (const auto& [candidate, speed] : some) CHECK(all.at(candidate) == speed);
  const double before = clock;
  CHECK(time_tiles(shaders, limits, all, timer) == all);
  CHECK(clock == before + 150.0);  // that of the beginning
}

TEST_CASE("timing ends where it is cancelled or the context is lost") {
  const auto context = context_or_skip();
  if (!context) return;
  const std::vector<Shader> shaders{Shader::product};
  const TileTimer timer{.parts = 16};
  {
    const std::atomic<bool> cancelled = true;
    const CancelScope scope(cancelled);
    CHECK_THROWS_AS(time_tiles(shaders, gpu_limits(), {}, timer), Error);
  }
  const SimulatedGpuFault lost(GpuFault::context_lost);
  CHECK_THROWS_AS(time_tiles(shaders, gpu_limits(), {}, timer), Error);
}

TEST_CASE("the key of what was timed is one line that names the renderer, the same each time") {
  const auto context = context_or_skip();
  if (!context) return;
  const std::string key = tuning_key();
  CHECK(key == tuning_key());
  CHECK(key.find(reinterpret_cast<const char*>(glGetString(GL_RENDERER))) != std::string::npos);
  CHECK(std::ranges::none_of(key, [](unsigned char letter) { return letter < ' '; }));
}
