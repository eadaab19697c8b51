#include <epoxy/gl.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/fused/attention_work.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/storage_buffer.h"
#include "tests/gpu/bench_inputs.h"
#include "tests/gpu/json_text.h"
#include "tests/gpu/phases.h"
#include "tests/gpu/timed_runs.h"

namespace headwise::gpu_bench {
namespace {

// 1 shows what a work group takes by itself; the others are one,
// two and three for each of the 132 processors of the largest cards.
constexpr std::array group_counts{1, 132, 264, 396};

struct Product {
  Index rows, columns, depth;
};

// By the shader of core/gpu, with nothing around it.
std::string timed_product(GpuPrograms& programs, const MatrixProductTile& tile, const Product& p,
                          double seconds) {
  const Index alignment = programs.limits().offset_alignment;
  const StorageBuffer a("a", p.rows * p.depth), w("w", p.columns * p.depth), c("c", p.rows * p.columns);
  const ComputeProgram& program = programs.matrix_product(tile);
  const Index height = 64 * tile.rows, width = 64 * tile.columns;
  const Index groups = (p.rows + height - 1) / height * ((p.columns + width - 1) / width);
  const auto run = [&] {
    program.use();
    program.set_size("rows", p.rows);
    program.set_size("columns", p.columns);
    program.set_size("depth", p.depth);
    program.set("depth_range", std::array{0U, static_cast<std::uint32_t>(p.depth)});
    program.set("a_offset", a.bind(0, 0, a.count(), alignment));
    program.set("w_offset", w.bind(1, 0, w.count(), alignment));
    program.set("has_bias", false);
    program.set("c_offset", c.bind(3, 0, c.count(), alignment));
    program.set_size("c_stride", p.columns);
    program.set_size("c_part", p.columns);
    program.set_size("c_part_stride", 0);
    program.set_size("first_block", 0);
    glDispatchCompute(static_cast<GLuint>(groups), 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  };
  const double ms = median_milliseconds(run, seconds);
  const double flops =
      2.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.depth);
  return JsonObject()
      .text("tile", fmt::format("{}x{}", height, width))
      .flag("loads_ahead", tile.loads_ahead)
      .count("groups", groups)
      .text("product", fmt::format("{}x{}x{}", p.rows, p.columns, p.depth))
      .number("ms", ms)
      .number("gflops", flops / ms * 1e-6)
      .written();
}

std::string timed_attention(Index heads, Index queries, Index keys, Index head_dim, const GpuLimits& limits,
                            double seconds) {
  const AttentionInputs inputs = attention_inputs(heads, queries, keys, head_dim, false);
  GlForward forward(inputs, {.limits = &limits});
  forward.finish();
  const double ms = median_milliseconds(
      [&] {
        forward.again();
        forward.finish();
      },
      seconds);
  return JsonObject()
      .text("size", fmt::format("H {} L {} S {} D {}", heads, queries, keys, head_dim))
      .count("shared_bytes", limits.shared_bytes)
      .flag("subgroups", limits.clustered_subgroups)
      .flag("large_tiles", limits.tiles.attention[head_dim <= 64 ? 0 : 1].large)
      .flag("loads_ahead", limits.tiles.attention[head_dim <= 64 ? 0 : 1].loads_ahead)
      .count("tiles", forward.tiles("scaled_dot_product_attention"))
      .number("ms", ms)
      .number("gpu_longest_slice_ms", forward.longest_slice())
      .number("gflops", attention_flops(inputs) / ms * 1e-6)
      .written();
}

}  // namespace

std::string kernels_phase(const PhaseOptions& options) {
  const GpuLimits limits = gpu_limits();
  const double seconds = options.small ? 0.02 : 0.2;
  const Index depth = options.small ? 64 : 2048;
  std::vector<std::string> products, attentions;
  for (const bool ahead : {false, true}) {
    GpuPrograms programs(limits);
    for (const Index rows : {1, 2})
      for (const Index columns : {1, 2}) {
        const MatrixProductTile tile{rows, columns, false, ahead};
        for (const Index groups : group_counts) {
          if ((options.small && groups > 132) || options.time_is_up()) continue;
          products.push_back(timed_product(programs, tile, {64 * rows * groups, 64 * columns, depth}, seconds));
        }
        const Index side = options.small ? 256 : 4096;
        if (!options.time_is_up())
          products.push_back(timed_product(programs, tile, {side, side, side}, seconds));
      }
  }
  // Every tile, and without subgroups.
  std::vector<GpuLimits> used;
  for (const bool large : {false, true})
    for (const bool ahead : {false, true}) {
      used.push_back(limits);
      used.back().tiles.attention.fill({large, ahead});
      used.back().tiles.exact = true;
    }
  if (limits.clustered_subgroups) {
    used.push_back(limits);
    used.back().clustered_subgroups = false;
  }
  for (const GpuLimits& each : used)
    for (const Index head_dim : {64, 128})
      for (const Index groups : group_counts) {
        if ((options.small && groups > 1) || options.time_is_up()) continue;
        attentions.push_back(timed_attention(groups, 128, options.small ? 256 : 4096, head_dim, each, seconds));
      }
  return JsonObject()
      .flag("complete", !options.time_is_up())
      .json("matrix_product", json_array(products))
      .json("scaled_dot_product_attention", json_array(attentions))
      .written();
}

}  // namespace headwise::gpu_bench
