// Which of several programs that compute the same bits is the fastest on this GPU: how many registers a thread has, and how long memory
// takes to answer, OpenGL does not tell.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_work.h"
#include "core/trace/attention_sizes.h"

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

// Multiply-adds per millisecond, of those that have been timed.
using TileSpeeds = std::map<TileCandidate, double>;

// The shaders that attention of these sizes runs. v_head_dim ≤ 256.
std::vector<TileCandidate::Shader> shaders_of(const AttentionSizes& sizes);

// Every way to compile them that fits, the usual ones first, then those that differ from them in one respect.
std::vector<TileCandidate> tile_candidates(const std::vector<TileCandidate::Shader>& shaders,
                                           const GpuLimits& limits);

// The fastest of what has been timed; the usual one where that has not been timed, or where none is faster by more than chance.
TileChoices fastest_tiles(const TileSpeeds& speeds, const TileChoices& usual);

// One candidate a line.
std::string tile_speeds_text(const TileSpeeds& speeds);
// Lines that are none are left out, and so are speeds that are not positive numbers.
TileSpeeds tile_speeds(std::string_view text);

// The driver and the card of the current context, and the text of the shaders: when any of them changes, everything has to be timed anew.
// One line.
std::string tuning_key();

struct TileTimer {
  double most_milliseconds =
      1000.0;  // for all candidates together, compiling included: none is begun that would probably end later
  SliceLimits slices = slices_alone;
  Index parts = 1;  // only one of so many equal parts of what is usually computed, at most 16: for slow devices
  std::function<double()> milliseconds = {};  // a clock; null: the system's
};

// Times on the current context what `known` lacks of the candidates for these shaders, in order, until the time is up. What does not
// compile or has no room is left out. Throws Error(cancelled) and, if the context is lost, what check_gpu() throws.
TileSpeeds time_tiles(const std::vector<TileCandidate::Shader>& shaders, const GpuLimits& limits,
                      TileSpeeds known, const TileTimer& timer);

}  // namespace headwise
