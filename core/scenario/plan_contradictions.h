// Everything wrong with a scenario, collected during planning; used only by the files of the plan.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/scenario/given_arrays.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

// Collects all errors, so that users can fix everything at once.
class Contradictions {
 public:
  void add(std::string cause, bool from_arrays = false) {
    causes_.push_back(std::move(cause));
    arrays_ = arrays_ || from_arrays;
  }
  void check(bool holds, const std::string& cause, bool from_arrays = false) {
    if (!holds) add(cause, from_arrays);
  }
  void throw_if_any() const {
    if (causes_.empty()) return;
    throw Error(arrays_ ? ExitStatus::input : ExitStatus::usage,
                {.where = "scenario",
                 .what = causes_.size() == 1
                             ? causes_.front()
                             : fmt::format("{} contradictions: {}", causes_.size(), join(causes_, "; "))});
  }

 private:
  std::vector<std::string> causes_;
  bool arrays_ = false;
};

// " of query (2,3,8)", for a size given by arrays; else empty.
inline std::string size_source(const std::optional<SizeFact>& fact) {
  return fact ? " of " + fact->source : std::string();
}

}  // namespace headwise
