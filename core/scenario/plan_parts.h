// The parts of plan_scenario that are files of their own. They collect whatever is wrong with a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/scenario/given_arrays.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_plan.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

// Collects all errors, so that users can fix everything at once.
class Contradictions {
 public:
  explicit Contradictions(const Scenario& scenario) : file_(scenario.origin.file) {}
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
                {.where = file_.empty() ? "scenario" : file_,
                 .what = causes_.size() == 1
                             ? causes_.front()
                             : fmt::format("{} contradictions: {}", causes_.size(), join(causes_, "; "))});
  }

 private:
  std::string file_;  // that the scenario was read from; empty: from none
  std::vector<std::string> causes_;
  bool arrays_ = false;
};

// " of query (2,3,8)", for a size given by arrays; else empty.
inline std::string size_source(const std::optional<SizeFact>& fact) {
  return fact ? " of " + fact->source : std::string();
}

// Whether the user wrote it, or set it to something other than its default.
template <class T>
bool is_written(const Scenario& scenario, const char* path, const T& value, const T& default_value) {
  return value != default_value || scenario.origin.written.contains(path);
}

// A size with a default: the arrays decide, unless the scenario sets another one. `length` is that of the
// axis behind the heads: arrays with the two in the other order are common.
Index size_of(const Scenario& scenario, const char* name, const char* letter, Index value, Index default_value,
              const std::optional<SizeFact>& fact, const std::optional<SizeFact>& length = {});
// A size that may be null: as written, from the arrays, or derived.
Index size_of(const Scenario& scenario, const char* name, const char* letter, const std::optional<Index>& value,
              const std::optional<SizeFact>& fact, Index follows, const std::optional<SizeFact>& length = {});

// What says that there is a past: the first array of it that is given, or its length; null without one.
const char* source_of_past(const ScenarioPlan& plan, const GivenArrays& given);

// H, G, D, Dv; E, kdim and vdim are already known. If H does not divide E the head width is 0 and the cause
// is reported. Those of multi_head_latent_attention follow from its own sizes.
void plan_heads(ScenarioPlan& plan, const Scenario& scenario, const GivenSizes& sizes, Contradictions& wrong);
void plan_latent_heads(ScenarioPlan& plan, const Scenario& scenario, const GivenSizes& sizes);
// What multi_head_latent_attention needs, and what it does not have.
void check_latent_attention(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong);

// Checks that columns can be rotated in pairs, and that every key has a position.
// The plan's head_dim is already known.
void check_rotary_embedding(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong);
// The stretched frequencies take the place of the base: what computes needs to know of no scaling.
void plan_rotary_scaling(ScenarioPlan& plan, const Scenario& scenario, Contradictions& wrong);
// The sizes of the weights are checked with the arrays (core/attention/check_attention_inputs.h).
void check_qk_norm(const Scenario& scenario, const GivenArrays& given, Contradictions& wrong);
// The indexer's sizes, and keys that it has none of its own for.
void check_indexer(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                   Contradictions& wrong);

}  // namespace headwise
