#include "core/gpu/gpu_limits.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/storage_buffer.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// What the standard guarantees.
constexpr GpuLimits least{.shared_bytes = 32768,
                          .storage_block_bytes = Index{128} << 20,
                          .offset_alignment = 256,
                          .groups_x = 65535,
                          .groups_y = 65535};

constexpr Index addressed_bytes = Index{1} << 31;

// In small letters. "Software Rasterizer" is swrast's name for itself.
constexpr std::array<std::string_view, 7> software_names{
    "llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader", "lavapipe", "basic render"};

// GL_KHR_shader_subgroup; libepoxy 1.5 does not define them.
constexpr GLenum subgroup_size = 0x9532, subgroup_stages = 0x9533, subgroup_features = 0x9534;
constexpr GLint feature_clustered = 0x40;

Index integer(GLenum name) {
  GLint64 value = 0;
  glGetInteger64v(name, &value);
  return value;
}

bool has_clustered_subgroups() {
  if (!epoxy_has_gl_extension("GL_KHR_shader_subgroup")) return false;
  const Index size = integer(subgroup_size);
  // A work group of 256 threads is split into subgroups in order if their size divides it.
  return size >= 16 && size <= 128 && (integer(subgroup_stages) & GL_COMPUTE_SHADER_BIT) != 0 &&
         (integer(subgroup_features) & feature_clustered) != 0;
}

// Tried once for each driver and card.
bool subgroups_work_here(const GpuLimits& limits) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;
  std::string driver;
  for (const GLenum name : {GL_VENDOR, GL_RENDERER, GL_VERSION})
    if (const auto* const text = reinterpret_cast<const char*>(glGetString(name)))
      driver += std::string(text) + '\n';
  const std::lock_guard lock(mutex);
  const auto at = known.find(driver);
  return at != known.end() ? at->second : known.emplace(driver, subgroups_work(limits)).first->second;
}

}  // namespace

bool is_software_renderer(std::string_view renderer) {
  std::string small(renderer);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::ranges::any_of(software_names,
                             [&](std::string_view name) { return small.find(name) != std::string::npos; });
}

TileChoices usual_tiles(bool software) {
  // Sums of two rows of 128 columns and their scores alone are 96 registers; sums of two rows of 256 are 128.
  // A product that reads ahead took an H100 1.3 times as long.
  return {.product = {.large = true, .loads_ahead = false},
          .attention = {{{.large = true, .loads_ahead = !software},
                         {.large = software, .loads_ahead = !software},
                         {.large = false, .loads_ahead = !software}}}};
}

std::string compute_refusal(int version) {
  if (version >= compute_version) return "";
  return fmt::format("compute shaders need OpenGL {}.{}, this context has {}.{}", compute_version / 10,
                     compute_version % 10, version / 10, version % 10);
}

std::string compute_refusal() {
  return compute_refusal(compute_is_missing() ? compute_version - 1 : epoxy_gl_version());
}

GpuLimits gpu_limits() {
  GpuLimits limits;
  limits.shared_bytes = integer(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
  limits.storage_block_bytes = integer(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
  limits.offset_alignment = integer(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
  GLint groups = 0;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups);
  limits.groups_x = groups;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 1, &groups);
  limits.groups_y = groups;
  limits.clustered_subgroups = has_clustered_subgroups();
  const auto* const renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  limits.software = is_software_renderer(renderer == nullptr ? "" : renderer);
  limits.tiles = usual_tiles(limits.software);
  limits = usable_limits(limits);
  if (limits.clustered_subgroups) limits.clustered_subgroups = subgroups_work_here(limits);
  const char* const lowered = std::getenv("HEADWISE_GPU_LIMITS");
  return lowered_limits(limits, lowered == nullptr ? "" : lowered);
}

GpuLimits lowered_limits(const GpuLimits& limits, std::string_view words) {
  GpuLimits lowered = limits;
  lowered.lowered = limits.lowered || !words.empty();
  const auto lower = [](Index& limit, std::string_view bytes) {
    Index value = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
    if (error == std::errc() && end == bytes.data() + bytes.size() && value > 0)
      limit = std::min(limit, value);
  };
  constexpr std::string_view shared = "shared=", block = "block=";
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (word == "no_subgroups") lowered.clustered_subgroups = lowered.emulated_subgroups = false;
    if (word == "no_loads_ahead") {
      lowered.tiles.product.loads_ahead = false;
      for (TileChoice& tile : lowered.tiles.attention) tile.loads_ahead = false;
    }
    if (word == "emulated_subgroups") lowered.clustered_subgroups = lowered.emulated_subgroups = true;
    if (word.starts_with(shared)) lower(lowered.shared_bytes, word.substr(shared.size()));
    if (word.starts_with(block)) lower(lowered.storage_block_bytes, word.substr(block.size()));
  }
  return lowered;
}

GpuLimits usable_limits(const GpuLimits& reported) {
  GpuLimits limits = reported;
  for (Index GpuLimits::*limit : {&GpuLimits::shared_bytes, &GpuLimits::storage_block_bytes,
                                  &GpuLimits::offset_alignment, &GpuLimits::groups_x, &GpuLimits::groups_y})
    if (limits.*limit <= 0) limits.*limit = least.*limit;
  // A piece begins up to an alignment early.
  limits.storage_block_bytes = std::min(limits.storage_block_bytes, addressed_bytes - limits.offset_alignment);
  return limits;
}

namespace {

constexpr Index threads = 256, cluster = 16;

}  // namespace

bool clusters_are_neighbours(std::span<const float> found) {
  if (found.size() != 2 * threads) return false;
  for (Index thread = 0; thread < threads; ++thread) {
    const Index first = thread / cluster * cluster, last = first + cluster - 1;
    const auto at = static_cast<std::size_t>(2 * thread);
    if (found[at] != static_cast<float>(last)) return false;
    if (found[at + 1] != static_cast<float>(cluster * (first + last) / 2)) return false;
  }
  return true;
}

bool subgroups_work(const GpuLimits& limits) {
  try {
    GpuPrograms programs(limits);
    const ComputeProgram& program = programs.subgroup_check();
    const StorageBuffer buffer("what subgroups find", 2 * threads);
    program.use();
    program.set("found_offset", buffer.bind(3, 0, buffer.count(), limits.offset_alignment) / 2);
    glDispatchCompute(1, 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    std::vector<float> found(static_cast<std::size_t>(buffer.count()));
    buffer.read(0, found);
    return clusters_are_neighbours(found);
  } catch (const Error&) {
    return false;  // what needs no subgroups may compute all the same
  }
}

}  // namespace headwise
