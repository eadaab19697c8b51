#include <fmt/format.h>

#include <vector>

#include "core/fused/attention_work.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_tuning.h"
#include "tests/gpu/bench_inputs.h"
#include "tests/gpu/json_text.h"
#include "tests/gpu/phases.h"
#include "tests/gpu/timed_runs.h"

namespace headwise::gpu_bench {
namespace {

struct LayerSize {
  Index embed_dim, num_heads, length;
};

// What the reference can check in seconds: it projects every key.
constexpr double most_checked_flops = 2e10;

std::string timed(const std::string& what, const LayerSize& size, bool causal, const AttentionInputs& inputs,
                  const GpuLimits& limits, double seconds) {
  GlForward forward(inputs, {.limits = &limits});
  forward.finish();
  const double ms = median_milliseconds(
      [&] {
        forward.again();
        forward.finish();
      },
      seconds);
  const double flops = attention_flops(inputs);
  JsonObject run;
  run.text("what", what)
      .count("embed_dim", size.embed_dim)
      .count("num_heads", size.num_heads)
      .count("length", size.length)
      .flag("causal", causal)
      .number("ms", ms)
      .number("gflops", flops / ms * 1e-6)
      .number("gpu_longest_slice_ms", forward.longest_slice())
      .count("gpu_mib", forward.gpu_bytes() >> 20)
      .flag("guards_intact", forward.guards_intact());
  if (flops <= most_checked_flops)
    run.number("max_abs_diff", difference_from_reference(inputs, *forward.trace()->tensors.output));
  return run.written();
}

}  // namespace

std::string layers_phase(const PhaseOptions& options) {
  const std::vector<LayerSize> sizes =
      options.small
          ? std::vector<LayerSize>{{64, 4, 128}, {128, 8, 200}}
          : std::vector<LayerSize>{{512, 8, 512},   {512, 8, 2048},   {768, 12, 1024}, {1024, 16, 2048},
                                   {4096, 32, 512}, {4096, 32, 1024}, {4096, 32, 4096}};
  const double seconds = options.small ? 0.05 : 0.5;
  // As the program does before its first run, for all heads of these layers.
  using Shader = TileCandidate::Shader;
  GpuLimits limits = gpu_limits();
  TileRatios ratios;
  time_tiles({Shader::product, Shader::attention_64, Shader::attention_128}, limits, ratios,
             {.most_milliseconds = options.small ? 1000.0 : 30000.0, .parts = options.small ? 16 : 1});
  if (!limits.lowered) limits.tiles = fastest_tiles(ratios, limits.tiles);
  std::vector<std::string> runs;
  for (const LayerSize& s : sizes)
    for (const bool causal : {false, true}) {
      if (options.time_is_up()) break;
      runs.push_back(timed("layer", s, causal, layer_inputs(s.embed_dim, s.num_heads, s.length, causal),
                           limits, seconds));
      runs.push_back(timed("attention", s, causal,
                           attention_inputs(s.num_heads, s.length, s.length, s.embed_dim / s.num_heads, causal),
                           limits, seconds));
    }
  return JsonObject()
      .text("speed_over_the_usual", tile_ratios_text(ratios))
      .flag("complete", !options.time_is_up())
      .json("runs", json_array(runs))
      .written();
}

}  // namespace headwise::gpu_bench
