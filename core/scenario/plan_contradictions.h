// What is wrong with a scenario, collected while it is planned: seen by the files of the plan alone.
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

// Everything that is wrong at once, so that a person mends it in one go.
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

// " of query (2,3,8)", for a size that arrays tell; else nothing.
inline std::string size_source(const std::optional<SizeFact>& fact) {
  return fact ? " of " + fact->source : std::string();
}

}  // namespace headwise
