#include "core/backend/kept_tuning.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/core/files/temporary_folder.h"
#include "tests/core/gpu/computing_context.h"
#include "tests/environment_variable.h"

using namespace headwise;
using namespace headwise::test;

namespace {

TileRatios ratio_of(double ratio) {
  return {{{TileCandidate::Shader::product, {true, false}}, ratio}};
}

}  // namespace

TEST_CASE("what was timed on one GPU is kept beside what was timed on others") {
  std::string text = with_tile_ratios("", "one", ratio_of(1.0));
  text = with_tile_ratios(text, "other", ratio_of(2.0));
  CHECK(kept_tile_ratios(text, "one") == ratio_of(1.0));
  CHECK(kept_tile_ratios(text, "other") == ratio_of(2.0));
  CHECK(kept_tile_ratios(text, "third").empty());
  text = with_tile_ratios(text, "one", ratio_of(3.0));
  CHECK(kept_tile_ratios(text, "one") == ratio_of(3.0));
  CHECK(kept_tile_ratios(text, "other") == ratio_of(2.0));
}

TEST_CASE("of many GPUs those kept last stay") {
  std::string text;
  for (int i = 0; i < 100; ++i) text = with_tile_ratios(text, fmt::format("card {}", i), ratio_of(i + 1.0));
  CHECK(kept_tile_ratios(text, "card 99") == ratio_of(100.0));
  CHECK(kept_tile_ratios(text, "card 68") == ratio_of(69.0));
  CHECK(kept_tile_ratios(text, "card 67").empty());
  CHECK(text.size() < 4096);
}

TEST_CASE("a file that is no such file is as good as none, and is replaced") {
  for (const std::string& text : {std::string("product large ahead 5\n"), std::string("[]\n[\n]\n"),
                                  std::string("[one"), std::string(5000, '['), std::string("\0\xFF[one]\0", 8),
                                  std::string("[one]\nproduct large ahead fast\n[one]\n")}) {
    CAPTURE(text);
    CHECK(kept_tile_ratios(text, "one").empty());
    CHECK(kept_tile_ratios(with_tile_ratios(text, "one", ratio_of(2.0)), "one") == ratio_of(2.0));
  }
}

TEST_CASE("it is kept where caches are, or nowhere") {
  const EnvironmentVariable cache("XDG_CACHE_HOME", "/caches"), home("HOME", "/home/ada");
  CHECK(tuning_file() == "/caches/headwise/gpu_tuning.txt");
  cache.set("caches");  // not absolute: to be ignored
  CHECK(tuning_file() == "/home/ada/.cache/headwise/gpu_tuning.txt");
  cache.unset();
  home.unset();
  CHECK(tuning_file().empty());
}

TEST_CASE("software, and limits that the environment lowers, keep the usual tiles without timing any") {
  OPEN_OR_SKIP(context, context_or_skip());
  const AttentionSizes sizes{.head_dim = 8, .v_head_dim = 8};
  const EnvironmentVariable words("HEADWISE_GPU_LIMITS", "no_loads_ahead");
  const GpuLimits lowered = tuned_limits(Op::multi_head_attention, sizes, slices_alone);
  CHECK(lowered.lowered);
  CHECK(lowered.tiles == gpu_limits().tiles);
  words.unset();
  if (gpu_limits().software)
    CHECK(tuned_limits(Op::multi_head_attention, sizes, slices_alone).tiles == usual_tiles(true));
}

TEST_CASE("a GPU is timed once, and what was found out is read the next time") {
  OPEN_OR_SKIP(context, context_or_skip());
  const TemporaryFolder folder;
  const std::string path = folder.file("caches/headwise/gpu_tuning.txt");
  GpuLimits card = gpu_limits();
  card.tiles = usual_tiles(false);
  const std::vector<TileCandidate::Shader> shaders{TileCandidate::Shader::attention_64};
  int looks = 0;  // at the clock
  const TileTimer timer{.parts = 16, .milliseconds = [&looks] {
                          ++looks;
                          return 0.0;
                        }};
  const GpuLimits tuned = tuned_limits(card, shaders, timer, path);
  const TileRatios ratios = kept_tile_ratios(content_of(path), tuning_key(card));
  CHECK(ratios.size() == tile_candidates(shaders[0], card).size());
  CHECK(tuned.tiles == fastest_tiles(ratios, card.tiles));
  // In the same process it is known, and so it is to the next one, which has only the file.
  const int before = looks;
  CHECK(tuned_limits(card, shaders, timer, path).tiles == tuned.tiles);
  CHECK(looks == before + 1);
  const std::string copied = folder.with_file("copy.txt", content_of(path));
  CHECK(tuned_limits(card, shaders, timer, copied).tiles == tuned.tiles);
  CHECK(looks == before + 2);
  // Where it cannot be kept, that is no error.
  const std::string nowhere = folder.file("copy.txt/gpu_tuning.txt");
  CHECK_NOTHROW(tuned_limits(card, shaders, {.most_milliseconds = -1.0, .parts = 16}, nowhere));
}
