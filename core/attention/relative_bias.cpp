#include "core/attention/relative_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// Distances that have a bucket of their own.
Index exact_buckets(const RelativeBias& bias) {
  return bias.buckets / (bias.bidirectional ? 4 : 2);
}

}  // namespace

std::string relative_bias_problem(const RelativeBias& bias) {
  constexpr Index most = 1 << 20;  // buckets, and distances of the table of biases
  const Index least = bias.bidirectional ? 4 : 2;
  if (bias.buckets < least || bias.buckets > most)
    return fmt::format("buckets = {}: expected {} to {}{}", bias.buckets, least, most,
                       bias.bidirectional ? ", half of them for keys ahead" : "");
  if (bias.max_distance <= exact_buckets(bias) || bias.max_distance > most)
    return fmt::format(
        "max_distance = {}: expected more than the {} distances that have a bucket each, at most {}",
        bias.max_distance, exact_buckets(bias), most);
  return "";
}

Index relative_bucket(const RelativeBias& bias, Index ahead) {
  const Index buckets = bias.bidirectional ? bias.buckets / 2 : bias.buckets;
  const Index first = bias.bidirectional && ahead > 0 ? buckets : 0;
  const Index distance = bias.bidirectional ? std::abs(ahead) : std::max<Index>(-ahead, 0);
  const Index exact = exact_buckets(bias);
  if (distance < exact) return first + distance;
  // In f32, as the authors compute it: which bucket a distance at an edge is in depends on it.
  const auto share =
      std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(bias.max_distance) / static_cast<double>(exact)));
  const auto further = static_cast<Index>(share * static_cast<float>(buckets - exact));
  return first + std::min(exact + further, buckets - 1);
}

std::vector<RelativeBucket> relative_buckets(const RelativeBias& bias, Index begin, Index end) {
  std::vector<RelativeBucket> runs;
  for (Index ahead = begin; ahead < end; ++ahead) {
    const Index bucket = relative_bucket(bias, ahead);
    if (runs.empty() || runs.back().bucket != bucket) runs.push_back({bucket, ahead, ahead});
    ++runs.back().end;
  }
  return runs;
}

RelativeBiasTable::RelativeBiasTable(const RelativeBias& bias, const Tensor& weight, Index furthest)
    : reach_(std::min(bias.max_distance, furthest)) {
  const Index heads = weight.shape().size(1);
  values_.reserve(static_cast<std::size_t>(heads * (2 * reach_ + 1)));
  for (Index h = 0; h < heads; ++h)
    for (Index ahead = -reach_; ahead <= reach_; ++ahead)
      values_.push_back(weight.flat(relative_bucket(bias, ahead) * heads + h));
}

Tensor position_bias(const RelativeBias& bias, const Tensor& weight, Shape shape, Index keys, Index offset) {
  Tensor result(std::move(shape), weight.dtype());
  const Index heads = result.shape().size(1), queries = result.shape().size(2),
              all_keys = result.shape().size(3);
  const RelativeBiasTable table(bias, weight, keys + queries);
  dispatch_float(weight.dtype(), [&]<class T>() {
    T* row = result.values<T>().data();
    for (Index h = 0; h < heads; ++h)
      for (Index l = 0; l < queries; ++l, row += all_keys)
        for (Index s = 0; s < keys; ++s) row[s] = static_cast<T>(table(h, s - l - offset));
  });
  return result;
}

Tensor relative_weight_gradient(const RelativeBias& bias, const Tensor& grad_position_bias,
                                const Shape& weight, Index keys, Index offset) {
  const Shape& shape = grad_position_bias.shape();
  const Index heads = shape.size(1), queries = shape.size(2), all_keys = shape.size(3);
  std::vector<double> sums(static_cast<std::size_t>(weight.element_count()), 0.0);
  Index row = 0;
  for (Index h = 0; h < heads; ++h)
    for (Index l = 0; l < queries; ++l, row += all_keys)
      for (Index s = 0; s < keys; ++s)
        sums[static_cast<std::size_t>(relative_bucket(bias, s - l - offset) * heads + h)] +=
            grad_position_bias.flat(row + s);
  return Tensor(weight, std::move(sums)).converted(grad_position_bias.dtype());
}

}  // namespace headwise
