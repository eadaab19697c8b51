// Which devices and versions are tried, on machines made up for it.
#include "app/platform/offscreen_context.h"

#include <doctest/doctest.h>

#include <vector>

using namespace headwise;

namespace {

// A machine whose places give contexts up to a version; 0: none. `made` records what was tried.
struct Machine {
  std::vector<GlPlace> places;
  std::vector<int> newest;  // 45: OpenGL 4.5
  bool reports_resets = true;
  std::vector<bool> computes_in_software = {};
  std::vector<ContextCandidate> made = {};

  std::optional<ContextCandidate> context(OffscreenUse use, bool wants_software = false) {
    made.clear();
    const bool wants_gpu = use == OffscreenUse::computing && !wants_software;
    return first_context(context_candidates(places, use, wants_software), places, wants_gpu,
                         [&](const ContextCandidate& candidate) {
                           made.push_back(candidate);
                           if (10 * candidate.major + candidate.minor > newest[candidate.place] ||
                               (candidate.reports_resets && !reports_resets))
                             return ContextTry::refused;
                           const bool software = computes_in_software.empty()
                                                     ? places[candidate.place] != GlPlace::gpu
                                                     : computes_in_software[candidate.place];
                           return software ? ContextTry::software : ContextTry::gpu;
                         });
  }
};

constexpr auto gpu = GlPlace::gpu;
constexpr auto surfaceless = GlPlace::surfaceless;
constexpr auto software = GlPlace::software;
constexpr auto default_display = GlPlace::default_display;

}  // namespace

TEST_CASE("computing goes from a GPU that gives no context to the next GPU, and only then to software") {
  Machine machine{{surfaceless, gpu, software, gpu, default_display}, {45, 0, 45, 43, 45}};
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{3, 4, 3, true});
  machine.newest[3] = 33;
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{0, 4, 5, true});
  machine.newest[1] = 44;
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{1, 4, 4, true});
}

TEST_CASE("4.4 and 4.3 are tried before anything older, with and without reset notification") {
  Machine machine{{gpu}, {44}};
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{0, 4, 4, true});
  machine.reports_resets = false;
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{0, 4, 4, false});
  machine.newest[0] = 43;
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{0, 4, 3, false});
  CHECK(machine.context(OffscreenUse::pictures) == ContextCandidate{0, 4, 3, false});
  CHECK(machine.made.size() == 6);
}

TEST_CASE("computing takes 3.3 only where nothing gives 4.3, pictures take it from the first place") {
  Machine machine{{surfaceless, gpu, software}, {33, 33, 45}};
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{2, 4, 5, true});
  CHECK(machine.context(OffscreenUse::pictures) == ContextCandidate{0, 3, 3, true});
  machine.newest = {33, 33, 33};
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{1, 3, 3, true});
  CHECK(machine.made.size() == 3 * 6 + 1);
}

TEST_CASE("pictures, and computing where software is wanted, take software before a GPU") {
  Machine machine{{gpu, software, surfaceless}, {45, 45, 45}};
  CHECK(machine.context(OffscreenUse::pictures) == ContextCandidate{2, 4, 5, true});
  CHECK(machine.context(OffscreenUse::computing, true) == ContextCandidate{2, 4, 5, true});
  machine.newest[2] = 0;
  CHECK(machine.context(OffscreenUse::pictures) == ContextCandidate{1, 4, 5, true});
  CHECK(machine.context(OffscreenUse::computing, true) == ContextCandidate{1, 4, 5, true});
  machine.newest[1] = 0;
  CHECK(machine.context(OffscreenUse::computing, true) == ContextCandidate{0, 4, 5, true});
}

TEST_CASE("a GPU whose driver computes in software gives way to another GPU, and is used if there is none") {
  Machine machine{{surfaceless, gpu, gpu}, {45, 45, 43}, true, {true, true, false}};
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{2, 4, 3, true});
  machine.newest[2] = 33;  // does not compute
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{1, 4, 5, true});
  CHECK(machine.made.back() == ContextCandidate{1, 4, 5, true});  // its context is the last that was made
  machine.newest[2] = 45;
  machine.computes_in_software[2] = true;
  CHECK(machine.context(OffscreenUse::computing) == ContextCandidate{1, 4, 5, true});
  CHECK(machine.made.back() == ContextCandidate{1, 4, 5, true});
  CHECK(machine.context(OffscreenUse::computing, true) == ContextCandidate{0, 4, 5, true});
}

TEST_CASE("where nothing gives a context, everything was tried once") {
  Machine machine{{surfaceless, gpu, software, GlPlace::unknown, default_display}, {0, 0, 0, 0, 0}};
  for (const OffscreenUse use : {OffscreenUse::computing, OffscreenUse::pictures}) {
    CHECK_FALSE(machine.context(use));
    CHECK(machine.made.size() == 5 * 8);
    for (std::size_t i = 0; i < machine.made.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(machine.made[i] == machine.made[j]);
  }
}
