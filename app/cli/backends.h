// Which backends this build has.
#pragma once

#include <span>
#include <string_view>

namespace headwise {

struct BackendEntry {
  std::string_view name;
  std::string_view what;
};

std::span<const BackendEntry> backends();

// Throws Error(usage) for a name that is no backend.
void require_backend(std::string_view name);

}  // namespace headwise
