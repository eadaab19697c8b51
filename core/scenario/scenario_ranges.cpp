#include <algorithm>

#include "core/scenario/plan_parts.h"
#include "core/scenario/scenario_schema.h"

namespace headwise {
namespace {

struct RangeChecker {
  [[noreturn]] static void refuse(const char* section, const char* key, const std::string& got,
                                  const std::string& expected) {
    throw Error(ExitStatus::usage, {.where = fmt::format("{}{}{}", section, *section == '\0' ? "" : ".", key),
                                    .what = "out of range",
                                    .got = got,
                                    .expected = expected});
  }

  template <class T>
  void field(const char*, const char*, const T&) {
  }  // nothing that could be out of range; edits are checked where they are applied

  template <class T, class Range>
  void field(const char* section, const char* key, const T& member, const Range& range) {
    if (!range.contains(member)) refuse(section, key, fmt::format("{}", member), range.text());
  }
  template <class T, class Range>
  void field(const char* section, const char* key, const std::optional<T>& member, const Range& range) {
    if (member) field(section, key, *member, range);
  }
  void valid_lens(const char*, const char*, const MaskSpec&) {}  // its range is S: checked with the plan
  void field(const char* section, const char* key, const std::vector<double>& member, const NumberRange& range) {
    for (const double number : member) field(section, key, number, range);
  }
  void field(const char* section, const char* key, const std::optional<std::vector<double>>& member,
             const char*) {
    for (const double number : member.value_or(std::vector<double>{}))
      field(section, key, number, NumberRange{});
  }
  void field(const char* section, const char* key, const std::optional<FrozenHeads>& member) {
    if (!member) return;
    std::vector<std::int64_t> heads = member->heads;
    std::ranges::sort(heads);
    if (heads.empty() || heads.front() < 0 || std::ranges::adjacent_find(heads) != heads.end())
      refuse(section, key, fmt::format("heads {}", join(member->heads, ", ")),
             "one or more heads, counted from 0, each only once");
    const TensorPtr& held = member->attn_weights;
    if (held && (held->dtype() != DType::f64 || held->shape().rank() != 4))
      refuse(section, key, held->shape().sizes_text(), "attn_weights (N,F,L,S) in f64");
  }
};

}  // namespace

// Checks the ranges of a Scenario that was created in code and not read: the same schema, visited once more.
void check_scenario(const Scenario& scenario) {
  RangeChecker checker;
  visit_scenario(scenario, checker);
}

}  // namespace headwise
