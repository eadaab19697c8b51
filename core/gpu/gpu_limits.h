// The limits of the current OpenGL context for compute shaders.
#pragma once

#include <array>
#include <compare>
#include <span>
#include <string>
#include <string_view>

#include "core/gpu/compute_program.h"
#include "core/tensor/shape.h"

namespace headwise {

// How a shader is compiled where several ways give the same bits (core/gpu/gpu_tuning.h finds out which is
// the fastest).
struct TileChoice {
  bool large =
      true;  // twice as many rows a thread, and columns of a product, where there are work groups enough
  bool loads_ahead = false;  // reads its next strip while it uses one
  friend auto operator<=>(const TileChoice&, const TileChoice&) = default;
};

struct TileChoices {
  TileChoice product;
  std::array<TileChoice, 3> attention;  // of heads of up to 64, 128 and 256 columns
  bool exact = false;  // large ones even where they make few work groups, to time and to compare them
  friend bool operator==(const TileChoices&, const TileChoices&) = default;
};

// Of OpenGL, as in the first line of every compute shader: a context of an older version does not compile it,
// even if it has the extensions.
inline constexpr int compute_version = 43;

struct GpuLimits {
  Index shared_bytes = 0;            // shared by the threads of a work group; the standard guarantees 32 KiB
  Index storage_block_bytes = 0;     // the largest piece of a buffer that a shader can bind at once
  Index offset_alignment = 0;        // of the start of such a piece, bytes
  Index groups_x = 0, groups_y = 0;  // work groups of one dispatch
  // 16 adjacent threads can reduce among themselves: by GL_KHR_shader_subgroup, or, for tests, as
  // shaders/emulated_subgroups.glsl does, for which 1 KiB of shared memory is needed besides.
  bool clustered_subgroups = false, emulated_subgroups = false;
  bool software = false;  // computes on the processor
  bool lowered = false;   // by lowered_limits()
  TileChoices tiles = {};
};

// What is chosen where nothing has been timed: strips of the attention that are read ahead, but not on
// software, where memory does not answer meanwhile; and on a GPU tiles for which a thread needs at most 128
// registers, so that a processor has room for two work groups.
TileChoices usual_tiles(bool software);

// Whether a renderer of this name computes on the processor (Mesa's llvmpipe, SwiftShader, …).
bool is_software_renderer(std::string_view renderer);

// A sentence saying why the current context cannot compute; empty if it can (OpenGL 4.3).
std::string compute_refusal();

// The same for a context of this version (43: OpenGL 4.3).
std::string compute_refusal(int version);

// Of the current context, which must be able to compute: usable_limits() of what it reports, lowered as the
// environment variable HEADWISE_GPU_LIMITS says (lowered_limits()),
// so that every test and bench can be run as on a smaller GPU.
GpuLimits gpu_limits();

// `words`, separated by commas: no_subgroups, emulated_subgroups (for tests: where a driver has none),
// no_loads_ahead, shared=BYTES, block=BYTES. No number is raised, and what is none of these is ignored.
GpuLimits lowered_limits(const GpuLimits& limits, std::string_view words);

// Limits that the shaders can rely on, whatever a driver reports: what the standard guarantees in place of
// numbers that are not positive, and blocks of less than 2 GiB,
// because some compilers address bytes with signed 32-bit numbers.
GpuLimits usable_limits(const GpuLimits& reported);

// Whether a driver's subgroups do what the shaders want of them:
// a size that it reports need not be the one that it dispatches.

// Runs one work group in the current context (shaders/subgroup_check.comp). False too where the shader does
// not compile. `limits` with clustered_subgroups.
bool subgroups_work(const GpuLimits& limits);

// `found`: for each of 256 threads the largest and the sum of the 16 thread numbers of its cluster.
bool clusters_are_neighbours(std::span<const float> found);

}  // namespace headwise
