#include "app/cli/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::array entries{
    BackendEntry{"reference",
                 "plain; keeps every intermediate tensor; the other backends are tested against it"},
    BackendEntry{"fused", "the fast CPU path, f32: one pass over the keys; stores no scores"},
    BackendEntry{"gl",
                 "the GPU, using OpenGL 4.3 compute shaders, f32; needs no display; runs in software if "
                 "there is no GPU"},
};

}  // namespace

std::span<const BackendEntry> backends() {
  return entries;
}

void require_backend(std::string_view name) {
  std::string names;
  for (const BackendEntry& entry : entries) {
    if (entry.name == name) return;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(ExitStatus::usage, {"--backend", "there is no such backend", std::string(name), names, ""});
}

}  // namespace headwise
