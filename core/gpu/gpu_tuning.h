// Which of several programs that compute the same bits is the fastest on this GPU: how many registers a
// thread has, and how long memory takes to answer, OpenGL does not tell.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_work.h"

namespace headwise {

// A shader, and a way to compile it.
struct TileCandidate {
  enum class Shader {
    product,
    attention_64,
    attention_128,
    attention_256
  };  // matrix_product; heads of up to so many columns
  Shader shader = Shader::product;
  TileChoice choice;
  friend auto operator<=>(const TileCandidate&, const TileCandidate&) = default;
};

// How many times as fast as the first candidate of its shader that works, usually the usual one: both timed
// in turns, because the clock of a GPU is never the same for long. 0: it did not work,
// or whoever tried it never came back.
using TileRatios = std::map<TileCandidate, double>;

// The shaders that attention of these sizes runs. v_head_dim ≤ 256.
std::vector<TileCandidate::Shader> shaders_of(Op op, const AttentionSizes& sizes);

// Every way to compile one that fits: the usual one first, then those that differ from it in one respect.
std::vector<TileCandidate> tile_candidates(TileCandidate::Shader shader, const GpuLimits& limits);

// The fastest of what has been timed; the usual one where none is faster by more than chance,
// unless it did not work.
TileChoices fastest_tiles(const TileRatios& ratios, const TileChoices& usual);

// One candidate a line.
std::string tile_ratios_text(const TileRatios& ratios);
// Lines that are none are left out, and so are ratios that are negative or no number.
TileRatios tile_ratios(std::string_view text);

// The driver and the card of the current context, and how the shaders are made: when any of them changes,
// everything has to be timed anew. One line.
std::string tuning_key(const GpuLimits& limits);

struct TileTimer {
  // For all candidates together, compiling included: none is begun that would take longer, if it takes as
  // long as the longest so far.
  double most_milliseconds = 1000.0;
  SliceLimits slices = slices_alone;
  // only one of so many equal parts of what is usually computed, at most 16: for slow devices
  Index parts = 1;
  std::function<double()> milliseconds = {};  // a clock; null: the system's
  // called before a candidate is tried, with a 0 for it, and after
  std::function<void(const TileRatios&)> keep = {};
};

// Times on the current context what `known` lacks of the candidates for these shaders, until the time is up.
// Throws Error(cancelled), and what check_gpu() throws; what has been found out by then is known.
void time_tiles(const std::vector<TileCandidate::Shader>& shaders, const GpuLimits& limits, TileRatios& known,
                const TileTimer& timer);

}  // namespace headwise
