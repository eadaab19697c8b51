#include "app/gl/context_candidates.h"

#include <algorithm>
#include <array>

namespace headwise {

namespace {

struct GlVersion {
  int major, minor;
};

constexpr std::array computing_versions{GlVersion{4, 5}, GlVersion{4, 4}, GlVersion{4, 3}};
constexpr GlVersion least_version{3, 3};

// The kinds of places in the order in which they are tried. Mesa needs neither display nor device for its
// surfaceless platform, but then it is always Mesa, even if another driver has a GPU.
constexpr std::array gpus_first{GlPlace::gpu, GlPlace::unknown, GlPlace::surfaceless, GlPlace::software,
                                GlPlace::default_display};
constexpr std::array software_first{GlPlace::surfaceless, GlPlace::software, GlPlace::unknown, GlPlace::gpu,
                                    GlPlace::default_display};

void add_version(std::vector<ContextCandidate>& candidates, std::size_t place, GlVersion version) {
  for (const bool tells_resets : {true, false})
    candidates.push_back({place, version.major, version.minor, tells_resets});
}

}  // namespace

std::vector<ContextCandidate> context_candidates(std::span<const GlPlace> places, OffscreenUse use,
                                                 bool wants_software) {
  const bool computing = use == OffscreenUse::computing;
  std::vector<std::size_t> ordered;
  for (const GlPlace kind : computing && !wants_software ? gpus_first : software_first)
    for (std::size_t place = 0; place < places.size(); ++place)
      if (places[place] == kind) ordered.push_back(place);
  std::vector<ContextCandidate> candidates;
  for (const std::size_t place : ordered) {
    for (const GlVersion version : computing_versions) add_version(candidates, place, version);
    if (!computing) add_version(candidates, place, least_version);
  }
  if (computing)
    for (const std::size_t place : ordered) add_version(candidates, place, least_version);
  return candidates;
}

std::optional<ContextCandidate> first_context(std::span<const ContextCandidate> candidates,
                                              std::span<const GlPlace> places, bool wants_gpu,
                                              const std::function<ContextTry(const ContextCandidate&)>& make) {
  std::optional<ContextCandidate> software;  // a GPU's, for want of better
  const auto may_be_better = [&](const ContextCandidate& candidate, const ContextCandidate& than) {
    return places[candidate.place] == GlPlace::gpu && candidate.place != than.place &&
           candidate.major > least_version.major;
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ContextCandidate& candidate = candidates[i];
    if (software && !may_be_better(candidate, *software)) continue;
    const ContextTry result = make(candidate);
    if (result == ContextTry::gpu) return candidate;
    if (result == ContextTry::refused || software) continue;
    const auto rest = candidates.subspan(i + 1);
    const bool more = wants_gpu && std::ranges::any_of(rest, [&](const ContextCandidate& next) {
                        return may_be_better(next, candidate);
                      });
    if (!more) return candidate;
    software = candidate;
  }
  if (software && make(*software) == ContextTry::refused) return std::nullopt;
  return software;
}

}  // namespace headwise
