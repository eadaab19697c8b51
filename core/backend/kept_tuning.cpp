#include "core/backend/kept_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
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
  std::string_view key, speeds;
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
      sections.back().speeds = {sections.back().speeds.data(),
                                static_cast<std::size_t>(text.data() + next - sections.back().speeds.data())};
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
void keep(const std::string& path, std::string_view key, const TileSpeeds& speeds) {
  if (path.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  try {
    write_file_atomically(path, with_tile_speeds(text_of(path), key, speeds));
  } catch (const Error&) {
  }
}

}  // namespace

TileSpeeds kept_tile_speeds(std::string_view text, std::string_view key) {
  for (const Section& section : sections_of(text))
    if (section.key == key) return tile_speeds(section.speeds);
  return {};
}

std::string with_tile_speeds(std::string_view text, std::string_view key, const TileSpeeds& speeds) {
  std::vector<Section> kept = sections_of(text);
  std::erase_if(kept, [&](const Section& section) { return section.key == key; });
  if (kept.size() >= most_keys)
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(most_keys - 1));
  std::string written;
  for (const Section& section : kept)
    written += fmt::format("[{}]\n{}", section.key, tile_speeds_text(tile_speeds(section.speeds)));
  return written + fmt::format("[{}]\n{}", key, tile_speeds_text(speeds));
}

std::string tuning_file() {
  for (const auto& [name, folder] : {std::pair{"XDG_CACHE_HOME", ""}, std::pair{"HOME", "/.cache"}}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && value[0] == '/')
      return fmt::format("{}{}/headwise/gpu_tuning.txt", value, folder);
  }
  return "";
}

GpuLimits tuned_limits(const AttentionSizes& sizes, const SliceLimits& slices) {
  const GpuLimits limits = gpu_limits();
  if (limits.software || limits.lowered) return limits;
  return tuned_limits(limits, sizes, {.slices = slices}, tuning_file());
}

GpuLimits tuned_limits(const GpuLimits& limits, const AttentionSizes& sizes, const TileTimer& timer,
                       const std::string& path) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, TileSpeeds> known;  // by file and key
  const std::lock_guard lock(mutex);
  const std::string key = tuning_key();
  const auto [at, is_new] = known.try_emplace({path, key});
  if (is_new) at->second = kept_tile_speeds(text_of(path), key);
  const TileSpeeds speeds = time_tiles(shaders_of(sizes), limits, at->second, timer);
  if (speeds.size() > at->second.size()) keep(path, key, speeds);
  at->second = speeds;
  GpuLimits tuned = limits;
  tuned.tiles = fastest_tiles(speeds, limits.tiles);
  return tuned;
}

}  // namespace headwise
