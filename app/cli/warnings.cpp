#include "app/cli/warnings.h"

#include <fmt/format.h>

#include "app/cli/standard_streams.h"
#include "core/tensor/error.h"

namespace headwise {

void Warnings::add(const std::string& warning) {
  if (!said_.insert(warning).second) return;
  all_.push_back(place_.empty() ? warning : fmt::format("{}: {}", place_, warning));
  print_warning(all_.back());
}

void Warnings::refuse_where(bool strict) const {
  if (!strict || all_.empty()) return;
  throw Error(ExitStatus::input,
              {"--strict", "there are warnings, so nothing was written",
               fmt::format("{} of them", all_.size()), "none", "fix their causes, or leave out --strict"});
}

void add_strict_flag(CommandOptions& options, bool& strict) {
  options.flag("--strict", strict, "Treat warnings as errors: exit with status 3 and write no output");
}

}  // namespace headwise
