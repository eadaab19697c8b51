#include "core/gpu/gpu_tuning.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include "core/gpu/gl_queue.h"
#include "core/gpu/gpu_attention.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_linear.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {

namespace embedded {
std::span<const unsigned char> matrix_product_comp();
std::span<const unsigned char> scaled_dot_product_attention_comp();
}  // namespace embedded

namespace {

using Shader = TileCandidate::Shader;

constexpr std::array<std::string_view, 4> shader_names{"product", "attention_64", "attention_128",
                                                       "attention_256"};

// By less than that, one program is faster than another by chance.
constexpr double clearly_faster = 1.03;

// Work groups for the largest cards, and some milliseconds for the smallest.
constexpr Index all_product_rows = 4096, product_depth = 256, product_columns = 2048;
constexpr Index all_attention_heads = 64, attention_queries = 1024, attention_keys = 256;
constexpr int timed_runs = 2;

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
std::uint64_t hash_of(std::initializer_list<std::span<const unsigned char>> texts) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::span<const unsigned char> text : texts)
    for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

double system_milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The GPU's time of a run of what `add` adds: the first finds out how much fits in a slice.
double shortest_run(GpuWork& work, const SliceLimits& slices, const std::function<void()>& add) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int run = 0; run <= timed_runs; ++run) {
    const double before = work.gpu_milliseconds();
    work.begin();
    add();
    while (work.advance(slices, true)) check_cancelled();
    check_gpu();
    if (run > 0) shortest = std::min(shortest, work.gpu_milliseconds() - before);
  }
  return shortest;
}

// Multiply-adds per millisecond.
double product_speed(GpuPrograms& programs, const TileTimer& timer) {
  const Index product_rows = all_product_rows / timer.parts;
  const StorageBuffer x("x", product_rows * product_depth), weight("weight", product_columns * product_depth),
      out("out", product_rows * product_columns);
  GlQueue queue;
  GpuWork work(queue);
  const double milliseconds = shortest_run(work, timer.slices, [&] {
    add_linear(work, programs,
               {.x = &x,
                .rows = product_rows,
                .depth = product_depth,
                .weight = &weight,
                .columns = product_columns,
                .out = &out,
                .out_part = product_columns,
                .out_row_stride = product_columns});
  });
  return static_cast<double>(product_rows * product_depth * product_columns) / milliseconds;
}

double attention_speed(GpuPrograms& programs, Index width, const TileTimer& timer) {
  const Index attention_heads = all_attention_heads / timer.parts;
  const AttentionSizes sizes{.batch = 1,
                             .queries = attention_queries,
                             .keys = attention_keys,
                             .all_keys = attention_keys,
                             .embed_dim = attention_heads * width,
                             .heads = attention_heads,
                             .kv_heads = attention_heads,
                             .head_dim = width,
                             .v_head_dim = width};
  const Index rows = attention_heads * attention_queries, key_rows = attention_heads * attention_keys;
  const StorageBuffer q("q", rows * width), k("k", key_rows * width), v("v", key_rows * width),
      statistics("row statistics", 2 * rows), out("head_output", rows * width);
  AttentionOptions options;
  options.op = Op::scaled_dot_product_attention;
  const GpuMasks masks(options, {}, sizes);
  const GpuAttention attention{
      .sizes = sizes,
      .masks = &masks,
      .computed = {{0, attention_heads}},
      .q = &q,
      .k = &k,
      .v = &v,
      .statistics = &statistics,
      .out = &out,
      .out_strides = {.query = width, .head = attention_queries * width, .batch = rows * width}};
  GlQueue queue;
  GpuWork work(queue);
  const double milliseconds =
      shortest_run(work, timer.slices, [&] { add_attention(work, programs, attention); });
  return static_cast<double>(2 * rows * attention_keys * width) / milliseconds;
}

// nullopt: it does not compile, or there is no room for it.
std::optional<double> speed_of(const TileCandidate& candidate, const GpuLimits& limits, const TileTimer& timer) {
  GpuLimits used = limits;
  choose(candidate, used.tiles);
  GpuPrograms programs(used);
  try {
    return candidate.shader == Shader::product
               ? product_speed(programs, timer)
               : attention_speed(programs, columns_of(candidate.shader), timer);
  } catch (const Error& error) {
    check_gpu();
    if (error.status() == ExitStatus::cancelled) throw;
    return std::nullopt;
  }
}

}  // namespace

std::vector<Shader> shaders_of(const AttentionSizes& sizes) {
  const Shader attention = sizes.v_head_dim <= 64    ? Shader::attention_64
                           : sizes.v_head_dim <= 128 ? Shader::attention_128
                                                     : Shader::attention_256;
  return {Shader::product, attention};
}

std::vector<TileCandidate> tile_candidates(const std::vector<Shader>& shaders, const GpuLimits& limits) {
  std::vector<TileCandidate> all;
  // Changed: nothing, what is read when, the size, both.
  for (const auto& [size, ahead] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
    for (const Shader shader : shaders) {
      const TileChoice usual = choice_of(shader, limits.tiles);
      const TileCandidate candidate{shader, {usual.large != size, usual.loads_ahead != ahead}};
      if (fits(candidate, limits)) all.push_back(candidate);
    }
  }
  return all;
}

TileChoices fastest_tiles(const TileSpeeds& speeds, const TileChoices& usual) {
  TileChoices fastest = usual;
  for (std::size_t i = 0; i < shader_names.size(); ++i) {
    const auto shader = static_cast<Shader>(i);
    const auto known = speeds.find({shader, choice_of(shader, usual)});
    if (known == speeds.end()) continue;
    double best = known->second * clearly_faster;
    for (const auto& [candidate, speed] : speeds) {
      if (candidate.shader != shader || speed <= best) continue;
      best = speed;
      choose(candidate, fastest);
    }
  }
  return fastest;
}

std::string tile_speeds_text(const TileSpeeds& speeds) {
  std::string text;
  for (const auto& [candidate, speed] : speeds)
    text += fmt::format("{} {} {} {:.6g}\n", shader_names[static_cast<std::size_t>(candidate.shader)],
                        candidate.choice.large ? "large" : "small",
                        candidate.choice.loads_ahead ? "ahead" : "in_turn", speed);
  return text;
}

TileSpeeds tile_speeds(std::string_view text) {
  TileSpeeds speeds;
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
    double speed = 0.0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), speed);
    if (error != std::errc() || end != line.data() + line.size() || !std::isfinite(speed) || speed <= 0.0)
      continue;
    speeds[{static_cast<Shader>(shader - shader_names.begin()), {size == "large", order == "ahead"}}] = speed;
  }
  return speeds;
}

std::string tuning_key() {
  std::string key;
  for (const GLenum name : {GL_VENDOR, GL_RENDERER, GL_VERSION}) {
    const auto* const text = reinterpret_cast<const char*>(glGetString(name));
    key += fmt::format("{}; ", text == nullptr ? "" : text);
  }
  std::ranges::replace_if(
      key, [](unsigned char letter) { return letter < ' '; }, ' ');
  return key + fmt::format("shaders {:016x}", hash_of({embedded::matrix_product_comp(),
                                                       embedded::scaled_dot_product_attention_comp()}));
}

TileSpeeds time_tiles(const std::vector<Shader>& shaders, const GpuLimits& limits, TileSpeeds known,
                      const TileTimer& timer) {
  const auto now = timer.milliseconds ? timer.milliseconds : system_milliseconds;
  const double begun = now();
  double longest = 0.0;
  for (const TileCandidate& candidate : tile_candidates(shaders, limits)) {
    if (known.contains(candidate)) continue;
    const double before = now();
    if (before - begun + longest > timer.most_milliseconds) break;
    check_cancelled();
    if (const std::optional<double> speed = speed_of(candidate, limits, timer)) known[candidate] = *speed;
    longest = std::max(longest, now() - before);
  }
  return known;
}

}  // namespace headwise
