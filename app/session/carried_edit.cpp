#include "app/session/carried_edit.h"

#include <fmt/format.h>

#include "core/scenario/scenario_difference.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::int64_t most_gains = 100'000;

}  // namespace

Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited) {
  Scenario made = onto;
  copy_keys(differing_keys(from, edited), edited, made);
  const bool other_heads = made.head_gain && from.attention.num_heads != made.attention.num_heads;
  if (other_heads && made.attention.num_heads > 0 && made.attention.num_heads <= most_gains)
    made.head_gain->resize(static_cast<std::size_t>(made.attention.num_heads), 1.0);
  return made;
}

std::string put_back_sentence(const Scenario& refused, const Scenario& now) {
  constexpr const char* several = "The settings without a result were restored. ";
  std::vector<std::string> keys = differing_keys(refused, now);
  // Too long to be reported.
  for (const char* path : {"inputs.text", "inputs.key_text", "heads.gain", "heads.frozen", "edits"})
    std::erase(keys, path);
  if (keys.size() != 1) return several;
  try {
    const std::string value = key_value_text(now, keys[0]);
    const std::string sentence =
        fmt::format("{} was reset to {}. ", keys[0].substr(keys[0].rfind('.') + 1), value);
    return value.empty() || sentence.size() > 60 ? several : sentence;
  } catch (const Error&) {  // the name of a file is not UTF-8
    return several;
  }
}

}  // namespace headwise
