#include "core/gpu/gpu_tuning.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gpu/gpu_faults.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
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

TEST_CASE("the candidates for a shader are every tile that fits, the usual one first") {
  const TileChoices usual = usual_tiles(false);
  for (const auto& [shader, choice, fitting] : {std::tuple{Shader::product, usual.product, std::size_t{4}},
                                                {Shader::attention_64, usual.attention[0], 4},
                                                {Shader::attention_128, usual.attention[1], 4},
                                                {Shader::attention_256, usual.attention[2], 2}}) {
    const std::vector<TileCandidate> all = tile_candidates(shader, card());
    CHECK(all.size() == fitting);
    CHECK(std::set(all.begin(), all.end()).size() == fitting);
    CHECK(all.front() == TileCandidate{shader, choice});
  }
  GpuLimits little = card();
  little.shared_bytes = 16384;
  for (const TileCandidate& candidate : tile_candidates(Shader::attention_64, little))
    CHECK_FALSE(candidate.choice.large);
}

TEST_CASE("a module runs the product and the attention of its heads' width, a function the attention alone") {
  for (const auto& [width, attention] : {std::pair<Index, Shader>{1, Shader::attention_64},
                                         {64, Shader::attention_64},
                                         {65, Shader::attention_128},
                                         {128, Shader::attention_128},
                                         {256, Shader::attention_256}}) {
    CAPTURE(width);
    const AttentionSizes sizes{.head_dim = 8, .v_head_dim = width};
    CHECK(shaders_of(Op::multi_head_attention, sizes) == std::vector{Shader::product, attention});
    CHECK(shaders_of(Op::scaled_dot_product_attention, sizes) == std::vector{attention});
  }
}

TEST_CASE("another tile than the usual is chosen if it is clearly faster, or if the usual does not work") {
  const TileChoices usual = usual_tiles(false);
  CHECK(fastest_tiles({}, usual) == usual);
  const TileChoice other{!usual.product.large, usual.product.loads_ahead};
  const TileCandidate own_product{Shader::product, usual.product}, other_product{Shader::product, other};
  CHECK(fastest_tiles({{own_product, 1.0}, {other_product, 1.02}}, usual) == usual);
  CHECK(fastest_tiles({{own_product, 1.0}, {other_product, 0.0}}, usual) == usual);
  TileChoices expected = usual;
  expected.product = other;
  CHECK(fastest_tiles({{own_product, 1.0}, {other_product, 1.1}}, usual) == expected);
  CHECK(fastest_tiles({{own_product, 0.0}, {other_product, 0.4}}, usual) == expected);
  CHECK(fastest_tiles({{own_product, 0.0}, {other_product, 0.0}}, usual) == usual);
  // Each shader by itself, and of several faster ones the fastest.
  TileRatios ratios{{own_product, 1.0}, {other_product, 1.1}};
  for (std::size_t i = 0; i < usual.attention.size(); ++i) {
    const auto shader = static_cast<Shader>(i + 1);
    const TileChoice own = usual.attention[i];
    ratios[{shader, own}] = 1.0;
    ratios[{shader, {own.large, !own.loads_ahead}}] = 1.2;
    ratios[{shader, {!own.large, own.loads_ahead}}] = 1.3;
    expected.attention[i] = {!own.large, own.loads_ahead};
    CHECK(fastest_tiles(ratios, usual) == expected);
  }
}

TEST_CASE("ratios survive being written and read, and lines that are none are left out") {
  const TileRatios ratios{{{Shader::product, {true, false}}, 1.0},
                          {{Shader::attention_64, {false, true}}, 0.0},
                          {{Shader::attention_256, {true, true}}, 1.25}};
  CHECK(tile_ratios(tile_ratios_text(ratios)) == ratios);
  CHECK(tile_ratios_text({}).empty());
  for (const char* text :
       {"", "\n\n", "product", "product large ahead", "product large ahead ", "product large ahead fast",
        "product large ahead 1.2x", "product large ahead -5", "product large ahead inf",
        "product large ahead nan", "product wide ahead 5", "product large late 5", "softmax large ahead 5",
        " product large ahead 5", "product  large ahead 5"}) {
    CAPTURE(text);
    CHECK(tile_ratios(text).empty());
  }
  CHECK(tile_ratios("nonsense\nproduct small ahead 5\nproduct large").size() == 1);
}

TEST_CASE("tiles are timed on the GPU until the time is up, and what is known is not timed again") {
  OPEN_OR_SKIP(context, context_or_skip());
  GpuLimits limits = gpu_limits();
  limits.tiles = usual_tiles(false);
  const std::vector<Shader> shaders{Shader::attention_64, Shader::product};
  const std::vector<TileCandidate> candidates = tile_candidates(Shader::attention_64, limits);
  // A clock on which a candidate takes 300 milliseconds, looked at before and after each.
  double clock = 0.0;
  TileRatios kept, known;
  int kept_times = 0;
  TileTimer timer{.most_milliseconds = 800.0,
                  .parts = 16,
                  .milliseconds = [&clock] { return clock += 150.0; },
                  .keep =
                      [&](const TileRatios& now) {
                        kept = now;
                        ++kept_times;
                      }};
  time_tiles(shaders, limits, known, timer);
  CHECK(known.size() == 2);
  CHECK(known.contains(candidates[1]));
  CHECK(known.at(candidates[0]) == 1.0);
  CHECK(kept == known);
  CHECK(kept_times == 4);  // a 0 before each, and what came of it
  const TileRatios some = known;
  timer.most_milliseconds = 1e9;
  time_tiles({Shader::attention_64}, limits, known, timer);
  CHECK(known.size() == candidates.size());
  for (const auto& [candidate, ratio] : known) CHECK(ratio > 0.0);
  for (const auto& [candidate, ratio] : some) CHECK(known.at(candidate) == ratio);
  const TileRatios all = known;
  const int before = kept_times;
  time_tiles({Shader::attention_64}, limits, known, timer);
  CHECK(known == all);
  CHECK(kept_times == before);
  // One that was begun and never ended is not tried again, and another one takes the place of the usual one.
  known = {{candidates[0], 0.0}, {candidates[2], 0.0}};
  time_tiles({Shader::attention_64}, limits, known, timer);
  CHECK(known.at(candidates[0]) == 0.0);
  CHECK(known.at(candidates[1]) == 1.0);
  CHECK(known.at(candidates[2]) == 0.0);
  CHECK(known.at(candidates[3]) > 0.0);
}

TEST_CASE("what is cancelled is tried again the next time, what loses the context is not") {
  OPEN_OR_SKIP(context, context_or_skip());
  const GpuLimits limits = gpu_limits();
  const TileTimer timer{.parts = 16};
  TileRatios known;
  {
    const std::atomic<bool> cancelled = true;
    const CancelScope scope(cancelled);
    CHECK_THROWS_AS(time_tiles({Shader::product}, limits, known, timer), Error);
    CHECK(known.empty());
  }
  const SimulatedGpuFault lost(GpuFault::context_lost);
  CHECK_THROWS_AS(time_tiles({Shader::product}, limits, known, timer), Error);
  CHECK(known == TileRatios{{tile_candidates(Shader::product, limits).front(), 0.0}});
}

TEST_CASE("the key of what was timed is one line that names the renderer, the same each time") {
  OPEN_OR_SKIP(context, context_or_skip());
  const std::string key = tuning_key(gpu_limits());
  CHECK(key == tuning_key(gpu_limits()));
  CHECK_CONTAINS(key, reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
  CHECK(std::ranges::none_of(key, [](unsigned char letter) { return letter < ' '; }));
}
