// What the scripts of a lesson's page compute with: the settings and arrays of a scenario, and what the
// program declares once for itself too: the rules of its tensors, the pictures of its steps, their words. As
// JSON:
//
//   { "settings": the scenario with all its keys, "sizes": {"N":1,"L":12, …},
//     "tensors": {"query": 0, …}           indices into PageTensors: inputs, parameters and masks
//     "labels": {"query": [[words]], "key": [[words]]}, "roles": [of hand-made heads],
//     "given": {"wide output": {"kind":"number","number":0.1,"text":"0.100"}}   of texts, which pages do not compute
//     "rules": {"scores": {"combine":"product_sum","products":[…]}}             core/attention/rules.h
//     "steps": [{"pictures":[{"result","left","above","transposed","rows":[begin,end],"formulas":[…],"sentence"}]}] }
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/session/computation.h"
#include "core/lessons/live_value.h"

namespace headwise {

using PageJson = nlohmann::ordered_json;

// The arrays of all scenarios of a page, each once, one behind the other: {"shape":[1,12,128],"type":"f32",
// "at":byte}, little-endian. Types: f32, f64, bool (a byte each); f64 for any other.
class PageTensors {
 public:
  // The index of its entry.
  std::size_t add(const TensorPtr& tensor);
  const PageJson& entries() const { return entries_; }
  const std::string& bytes() const { return bytes_; }

 private:
  PageJson entries_ = PageJson::array();
  std::string bytes_;
  std::map<std::string, std::size_t> known_;  // by their shapes and bytes
};

// `texts`: the quantities that the page's texts and keys read.
PageJson scenario_data(const Computation& computation, const std::vector<LiveQuantity>& texts,
                       PageTensors& tensors);

}  // namespace headwise
