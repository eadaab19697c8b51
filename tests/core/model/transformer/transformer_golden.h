// Values that torch computed, in arrays of one file: tests/golden/models.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "core/model/transformer/transformer.h"

namespace headwise::test {

using Golden = std::map<std::string, TensorPtr>;

inline Golden golden_arrays(const std::string& path) {
  Golden arrays;
  for (const NamedTensor& array : read_array_file(path)) arrays[array.name] = array.tensor;
  return arrays;
}

inline std::vector<TokenId> golden_ids(const Golden& golden, const std::string& name) {
  std::vector<TokenId> ids;
  for (const std::int64_t id : golden.at(name)->values<std::int64_t>())
    ids.push_back(static_cast<TokenId>(id));
  return ids;
}

// The largest difference of two tensors with as many numbers, by the largest magnitude of the expected one.
inline double relative_difference(const Tensor& got, const Tensor& expected) {
  REQUIRE(got.size() == expected.size());
  double largest = 0.0, difference = 0.0;
  for (Index i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(expected.flat(i)));
    const double apart = std::abs(got.flat(i) - expected.flat(i));
    difference = std::isnan(apart) ? INFINITY : std::max(difference, apart);
  }
  return difference / largest;
}

inline constexpr double golden_tolerance = 1e-5;

}  // namespace headwise::test
