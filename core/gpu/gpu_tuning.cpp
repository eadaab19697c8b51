#include "core/gpu/gpu_tuning.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <system_error>

#include "core/gpu/gl_queue.h"
#include "core/gpu/gpu_attention.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_linear.h"
#include "core/gpu/gpu_masks.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {

std::string_view embedded_matrix_product_comp(), embedded_scaled_dot_product_attention_comp(),
    embedded_share_glsl();

namespace {

using Shader = TileCandidate::Shader;

constexpr std::array<std::string_view, 4> shader_names{"product", "attention_64", "attention_128",
                                                       "attention_256"};

// By less than that, one program is faster than another by chance.
constexpr double clearly_faster = 1.03;

// Work groups enough for the largest cards, and some tens of milliseconds for the smallest.
constexpr Index all_product_rows = 4096, product_depth = 1024, product_columns = 1024;
constexpr Index all_attention_heads = 32, attention_queries = 1024, attention_keys = 512;
// A GPU at rest has a slow clock.
constexpr double milliseconds_of_warming = 50.0, least_milliseconds = 10.0;
constexpr int rounds = 3, most_runs = 100;

Index columns_of(Shader shader) {
  return shader == Shader::attention_64 ? 64 : shader == Shader::attention_128 ? 128 : 256;
}

const TileChoice& choice_of(Shader shader, const TileChoices& choices) {
  return shader == Shader::product ? choices.product : choices.attention[static_cast<std::size_t>(shader) - 1];
}

void choose(TileCandidate candidate, TileChoices& choices) {
  const auto at = static_cast<std::size_t>(candidate.shader);
  (candidate.shader == Shader::product ? choices.product : choices.attention[at - 1]) = candidate.choice;
}

bool fits(const TileCandidate& candidate, const GpuLimits& limits) {
  return candidate.shader == Shader::product || !candidate.choice.large ||
         attention_tile_fits(2, columns_of(candidate.shader) / 64, limits);
}

// FNV-1a.
std::uint64_t hash_of(std::initializer_list<std::string_view> texts) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::string_view text : texts)
    for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  return hash;
}

double system_milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What is computed, again and again: adds its jobs. It keeps its buffers.
using Problem = std::function<void(GpuWork&, GpuPrograms&)>;

StorageBuffer numbers(const char* name, Index count) {
  StorageBuffer buffer(name, count);
  std::vector<float> drawn(static_cast<std::size_t>(std::min<Index>(count, Index{1} << 16)));
  std::uint32_t state = 1;
  for (float& number : drawn) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  for (Index first = 0; first < count; first += static_cast<Index>(drawn.size()))
    buffer.write(first, std::span<const float>(drawn).first(static_cast<std::size_t>(
                            std::min(count - first, static_cast<Index>(drawn.size())))));
  return buffer;
}

Problem product_problem(Index parts) {
  struct Buffers {
    StorageBuffer x, weight, out;
  };
  const Index rows = all_product_rows / parts;
  const auto buffers = std::make_shared<Buffers>(Buffers{numbers("x", rows * product_depth),
                                                         numbers("weight", product_columns * product_depth),
                                                         StorageBuffer("out", rows * product_columns)});
  return [=](GpuWork& work, GpuPrograms& programs) {
    add_linear(work, programs,
               {.x = &buffers->x,
                .rows = rows,
                .depth = product_depth,
                .weight = &buffers->weight,
                .columns = product_columns,
                .out = &buffers->out,
                .out_part = product_columns,
                .out_row_stride = product_columns});
  };
}

Problem attention_problem(Index width, Index parts) {
  struct Buffers {
    StorageBuffer q, k, v, statistics, out;
    std::optional<GpuMasks> masks;
  };
  const Index heads = all_attention_heads / parts, rows = heads * attention_queries,
              key_rows = heads * attention_keys;
  const AttentionSizes sizes{.batch = 1,
                             .queries = attention_queries,
                             .keys = attention_keys,
                             .all_keys = attention_keys,
                             .embed_dim = heads * width,
                             .heads = heads,
                             .kv_heads = heads,
                             .head_dim = width,
                             .v_head_dim = width};
  const auto buffers = std::make_shared<Buffers>(Buffers{numbers("q", rows * width),
                                                         numbers("k", key_rows * width),
                                                         numbers("v", key_rows * width),
                                                         StorageBuffer("row statistics", 2 * rows),
                                                         StorageBuffer("head_output", rows * width),
                                                         {}});
  AttentionOptions options;
  options.op = Op::scaled_dot_product_attention;
  buffers->masks.emplace(options, GivenMasks{}, std::vector<double>{}, sizes);
  return [=](GpuWork& work, GpuPrograms& programs) {
    add_attention(work, programs,
                  {.sizes = sizes,
                   .masks = &*buffers->masks,
                   .computed = {{0, heads}},
                   .q = &buffers->q,
                   .k = &buffers->k,
                   .v = &buffers->v,
                   .statistics = &buffers->statistics,
                   .out = &buffers->out,
                   .out_strides = {.query = width, .head = attention_queries * width, .batch = rows * width}});
  };
}

// A problem, compiled as a candidate says.
class TimedTile {
 public:
  TimedTile(const TileCandidate& candidate, const GpuLimits& limits, const Problem& problem,
            const SliceLimits& slices)
      : programs_(limits_with(candidate, limits)), work_(queue_), problem_(&problem), slices_(slices) {
    run();  // compiles it, and finds out how much fits in a slice
  }

  // The shortest of some runs, of at least so many milliseconds together: of the GPU's time.
  double shortest(double milliseconds) {
    double least = std::numeric_limits<double>::infinity(), all = 0.0;
    for (int i = 0; i < most_runs && all < milliseconds; ++i) {
      const double time = run();
      least = std::min(least, time);
      all += time;
    }
    return least;
  }

 private:
  static GpuLimits limits_with(const TileCandidate& candidate, const GpuLimits& limits) {
    GpuLimits used = limits;
    choose(candidate, used.tiles);
    used.tiles.exact = true;
    return used;
  }

  double run() {
    const double before = work_.gpu_milliseconds();
    work_.begin();
    (*problem_)(work_, programs_);
    while (work_.advance(slices_, true)) check_cancelled();
    check_gpu();
    return work_.gpu_milliseconds() - before;
  }

  GpuPrograms programs_;
  GlQueue queue_;
  GpuWork work_;
  const Problem* problem_;
  SliceLimits slices_;
};

// Notes in `known` what comes of trying them.
class Trial {
 public:
  Trial(const GpuLimits& limits, TileRatios& known, const TileTimer& timer)
      : limits_(limits),
        known_(known),
        timer_(timer),
        now_(timer.milliseconds ? timer.milliseconds : system_milliseconds),
        begun_(now_()) {}

  // False when the time is up.
  bool time_shader(Shader shader) {
    const std::vector<TileCandidate> all = tile_candidates(shader, limits_);
    if (std::ranges::all_of(all, [&](const TileCandidate& candidate) { return known_.contains(candidate); }))
      return true;
    std::optional<Problem> problem;
    std::unique_ptr<TimedTile> base;
    for (const TileCandidate& candidate : all) {
      const auto at = known_.find(candidate);
      const bool is_known = at != known_.end();
      const double known = is_known ? at->second : 1.0;
      if (is_known && (base || known == 0.0)) continue;
      const double before = now_();
      if (before - begun_ + longest_ > timer_.most_milliseconds) return false;
      attempt(candidate, [&] {
        if (!problem)
          problem = shader == Shader::product ? product_problem(timer_.parts)
                                              : attention_problem(columns_of(shader), timer_.parts);
        auto tile = std::make_unique<TimedTile>(candidate, limits_, *problem, timer_.slices);
        if (base) return ratio(*base, *tile);
        base = std::move(tile);
        base->shortest(milliseconds_of_warming);
        return known;
      });
      longest_ = std::max(longest_, now_() - before);
    }
    return true;
  }

 private:
  static double ratio(TimedTile& base, TimedTile& tile) {
    double of_base = std::numeric_limits<double>::infinity(), of_tile = of_base;
    for (int round = 0; round < rounds; ++round) {
      of_base = std::min(of_base, base.shortest(least_milliseconds));
      of_tile = std::min(of_tile, tile.shortest(least_milliseconds));
    }
    return of_tile > 0.0 ? of_base / of_tile : 1.0;
  }

  // `find` is how to find the candidate's ratio.
  void attempt(const TileCandidate& candidate, const std::function<double()>& find) {
    const TileRatios before = known_;
    note(candidate, 0.0);
    try {
      note(candidate, find());
    } catch (const Error& error) {
      if (error.status() == ExitStatus::cancelled) {
        known_ = before;
        if (timer_.keep) timer_.keep(known_);
        throw;
      }
      check_gpu();  // does not compile, or has no room: the others may
    }
  }

  void note(const TileCandidate& candidate, double ratio) {
    known_[candidate] = ratio;
    if (timer_.keep) timer_.keep(known_);
  }

  const GpuLimits& limits_;
  TileRatios& known_;
  const TileTimer& timer_;
  std::function<double()> now_;
  double begun_, longest_ = 0.0;
};

}  // namespace

std::vector<Shader> shaders_of(Op op, const AttentionSizes& sizes) {
  const Shader attention = sizes.v_head_dim <= 64    ? Shader::attention_64
                           : sizes.v_head_dim <= 128 ? Shader::attention_128
                                                     : Shader::attention_256;
  if (op == Op::scaled_dot_product_attention) return {attention};
  return {Shader::product, attention};
}

std::vector<TileCandidate> tile_candidates(Shader shader, const GpuLimits& limits) {
  const TileChoice usual = choice_of(shader, limits.tiles);
  std::vector<TileCandidate> all;
  // Changed: nothing, what is read when, the size, both.
  for (const auto& [size, ahead] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
    const TileCandidate candidate{shader, {usual.large != size, usual.loads_ahead != ahead}};
    if (fits(candidate, limits)) all.push_back(candidate);
  }
  return all;
}

TileChoices fastest_tiles(const TileRatios& ratios, const TileChoices& usual) {
  TileChoices fastest = usual;
  for (std::size_t i = 0; i < shader_names.size(); ++i) {
    const auto shader = static_cast<Shader>(i);
    const auto known = ratios.find({shader, choice_of(shader, usual)});
    double best = known != ratios.end() && known->second == 0.0 ? 0.0 : clearly_faster;
    for (const auto& [candidate, ratio] : ratios) {
      if (candidate.shader != shader || ratio <= best) continue;
      best = ratio;
      choose(candidate, fastest);
    }
  }
  return fastest;
}

std::string tile_ratios_text(const TileRatios& ratios) {
  std::string text;
  for (const auto& [candidate, ratio] : ratios)
    text += fmt::format("{} {} {} {:.6g}\n", shader_names[static_cast<std::size_t>(candidate.shader)],
                        candidate.choice.large ? "large" : "small",
                        candidate.choice.loads_ahead ? "ahead" : "in_turn", ratio);
  return text;
}

TileRatios tile_ratios(std::string_view text) {
  TileRatios ratios;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto word = [&line] {
      const std::string_view next = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(next.size() + 1, line.size()));
      return next;
    };
    const std::string_view name = word(), size = word(), order = word();
    const auto* const shader = std::ranges::find(shader_names, name);
    if (shader == shader_names.end() || (size != "large" && size != "small") ||
        (order != "ahead" && order != "in_turn"))
      continue;
    double ratio = 0.0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), ratio);
    if (error != std::errc() || end != line.data() + line.size() || !std::isfinite(ratio) || ratio < 0.0)
      continue;
    ratios[{static_cast<Shader>(shader - shader_names.begin()), {size == "large", order == "ahead"}}] = ratio;
  }
  return ratios;
}

std::string tuning_key(const GpuLimits& limits) {
  std::string key;
  for (const GLenum name : {GL_VENDOR, GL_RENDERER, GL_VERSION}) {
    const auto* const text = reinterpret_cast<const char*>(glGetString(name));
    key += fmt::format("{}; ", text == nullptr ? "" : text);
  }
  std::ranges::replace_if(
      key, [](unsigned char letter) { return letter < ' '; }, ' ');
  const std::uint64_t hash = hash_of(
      {embedded_share_glsl(), embedded_matrix_product_comp(), embedded_scaled_dot_product_attention_comp()});
  return key + fmt::format("shaders {:016x} {} {} {}{}", hash, product_strip_depth, attention_strip_depth,
                           attention_value_rows(1), limits.clustered_subgroups ? " subgroups" : "");
}

void time_tiles(const std::vector<Shader>& shaders, const GpuLimits& limits, TileRatios& known,
                const TileTimer& timer) {
  Trial trial(limits, known, timer);
  for (const Shader shader : shaders)
    if (!trial.time_shader(shader)) return;
}

}  // namespace headwise
