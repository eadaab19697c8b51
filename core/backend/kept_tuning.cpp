#include "core/backend/kept_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "core/files/atomic_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 1U << 16U;
constexpr std::size_t most_keys = 32;

struct Section {
  std::string_view key, ratios;
};

// A line "[key]", and what stands up to the next one.
std::vector<Section> sections_of(std::string_view text) {
  std::vector<Section> sections;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::size_t next = std::min(at + line.size() + 1, text.size());
    if (line.size() > 2 && line.front() == '[' && line.back() == ']')
      sections.push_back({line.substr(1, line.size() - 2), text.substr(next, 0)});
    else if (!sections.empty())
      sections.back().ratios = {sections.back().ratios.data(),
                                static_cast<std::size_t>(text.data() + next - sections.back().ratios.data())};
    at = next;
  }
  return sections;
}

std::string text_of(const std::string& path) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error) || fs::file_size(path, error) > largest_file)
    return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Where it cannot be kept, it is timed again.
void keep(const std::string& path, std::string_view key, const TileRatios& ratios) {
  if (path.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  try {
    write_file_atomically(path, with_tile_ratios(text_of(path), key, ratios));
  } catch (const Error&) {
  }
}

}  // namespace

TileRatios kept_tile_ratios(std::string_view text, std::string_view key) {
  for (const Section& section : sections_of(text))
    if (section.key == key) return tile_ratios(section.ratios);
  return {};
}

std::string with_tile_ratios(std::string_view text, std::string_view key, const TileRatios& ratios) {
  std::vector<Section> kept = sections_of(text);
  std::erase_if(kept, [&](const Section& section) { return section.key == key; });
  if (kept.size() >= most_keys)
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(most_keys - 1));
  std::string written;
  for (const Section& section : kept)
    written += fmt::format("[{}]\n{}", section.key, tile_ratios_text(tile_ratios(section.ratios)));
  return written + fmt::format("[{}]\n{}", key, tile_ratios_text(ratios));
}

std::string tuning_file() {
  for (const auto& [name, folder] : {std::pair{"XDG_CACHE_HOME", ""}, std::pair{"HOME", "/.cache"}}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && value[0] == '/')
      return fmt::format("{}{}/headwise/gpu_tuning.txt", value, folder);
  }
  return "";
}

GpuLimits tuned_limits(Op op, const AttentionSizes& sizes, const SliceLimits& slices) {
  const GpuLimits limits = gpu_limits();
  if (limits.software || limits.lowered) return limits;
  return tuned_limits(limits, shaders_of(op, sizes), {.slices = slices}, tuning_file());
}

GpuLimits tuned_limits(const GpuLimits& limits, const std::vector<TileCandidate::Shader>& shaders,
                       const TileTimer& timer, const std::string& path) {
  struct Known {
    std::mutex timing;
    std::mutex mutex;  // of what follows
    TileRatios ratios;
    std::set<TileCandidate::Shader> timed;  // in this process
  };
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, Known> all;  // by file and key
  const std::string key = tuning_key(limits);
  Known* const known = [&] {
    const std::lock_guard lock(mutex);
    const auto [at, is_new] = all.try_emplace({path, key});
    if (is_new) at->second.ratios = kept_tile_ratios(text_of(path), key);
    return &at->second;
  }();
  const auto ratios = [known] {
    const std::lock_guard lock(known->mutex);
    return known->ratios;
  };
  if (const std::unique_lock lock(known->timing, std::try_to_lock); lock) {
    std::vector<TileCandidate::Shader> left = shaders;
    std::erase_if(left, [&](TileCandidate::Shader shader) { return known->timed.contains(shader); });
    TileRatios found = ratios();
    TileTimer keeping = timer;
    keeping.keep = [&](const TileRatios& now) {
      {
        const std::lock_guard write(known->mutex);
        known->ratios = now;
      }
      keep(path, key, now);
    };
    time_tiles(left, limits, found, keeping);
    known->timed.insert(left.begin(), left.end());
  }
  GpuLimits tuned = limits;
  tuned.tiles = fastest_tiles(ratios(), limits.tiles);
  return tuned;
}

}  // namespace headwise
