#include "core/scenario/scenario_difference.h"

#include <algorithm>
#include <cmath>

#include "core/files/json_text.h"
#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"

namespace headwise {
namespace {

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
bool same(const std::vector<CellEdit>& a, const std::vector<CellEdit>& b) {
  return std::ranges::equal(a, b, [](const CellEdit& x, const CellEdit& y) {
    const bool same_value = x.value == y.value || (std::isnan(x.value) && std::isnan(y.value));
    return same_value && x.tensor == y.tensor && x.index == y.index;
  });
}

}  // namespace

std::vector<std::string> differing_keys(const Scenario& a, const Scenario& b) {
  std::vector<std::string> paths;
  for_key_pairs(a, b, [&](const std::string& path, const auto& of_a, const auto& of_b) {
    if (!same(of_a, of_b) && (paths.empty() || paths.back() != path)) paths.push_back(path);
  });
  return paths;
}

void copy_keys(const std::vector<std::string>& paths, const Scenario& from, Scenario& to) {
  for_key_pairs(to, from, [&](const std::string& path, auto& member, const auto& other) {
    if (std::ranges::find(paths, path) != paths.end()) member = other;
  });
}

std::string key_value_text(const Scenario& scenario, const std::string& path) {
  Scenario alone;  // without the texts and the long lists of the others
  copy_keys({path}, scenario, alone);
  std::string pointer = "/" + path;
  std::ranges::replace(pointer, '.', '/');
  const Json value = json_of(scenario_to_json(alone, true)).at(Json::json_pointer(pointer));
  if (value.is_null()) return "automatic";
  if (value.is_string()) return value.get<std::string>();
  return value.is_structured() ? "" : json_text(value);
}

}  // namespace headwise
