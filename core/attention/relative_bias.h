// Learned biases for the distance between a query and a key: Raffel et al., "Exploring the Limits of Transfer
// Learning with a Unified Text-to-Text Transformer" (T5, JMLR 2020), section 2.1. Near distances have a
// bucket each, those further away share more and more. Each head has a number for each bucket,
//     position_bias[0,h,l,s] = relative_attention_bias.weight[bucket(s − l), h],
// and it is added to the scaled score of that pair in every batch.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// The bucket of a key that lies `ahead` places after its query, negative if before: 0 … buckets − 1. With
// bidirectional buckets the upper half is for keys ahead; otherwise they are all in bucket 0, as is the
// query's own place.
Index relative_bucket(const RelativeBias& bias, Index ahead);

// What is wrong with the sizes, in words with their keys; empty if nothing is.
std::string relative_bias_problem(const RelativeBias& bias);

// A bucket and the values of `ahead` that are in it, [begin, end).
struct RelativeBucket {
  Index bucket = 0, begin = 0, end = 0;
};

// The buckets of begin ≤ ahead < end, in the order of `ahead`.
std::vector<RelativeBucket> relative_buckets(const RelativeBias& bias, Index begin, Index end);

// The biases by head and distance, for any number of queries and keys. `weight`: (buckets,H).
class RelativeBiasTable {
 public:
  // Distances beyond `furthest` need not be known.
  RelativeBiasTable(const RelativeBias& bias, const Tensor& weight, Index furthest);

  double operator()(Index h, Index ahead) const {
    return values_[static_cast<std::size_t>(h * (2 * reach_ + 1) + std::clamp(ahead, -reach_, reach_) + reach_)];
  }
  // (H, 2·reach + 1): what a head adds at ahead = −reach … reach; further away it is the same as at the ends.
  const std::vector<double>& values() const { return values_; }
  Index reach() const { return reach_; }

 private:
  Index reach_ = 0;
  std::vector<double> values_;
};

// position_bias, of `shape` (1,H,L,S′): 0 in the columns from `keys` on. `offset`: causal_offset.
Tensor position_bias(const RelativeBias& bias, const Tensor& weight, Shape shape, Index keys, Index offset);

// d weight[b,h]: the sum of d position_bias over the cells of head h whose distance is in bucket b.
Tensor relative_weight_gradient(const RelativeBias& bias, const Tensor& grad_position_bias,
                                const Shape& weight, Index keys, Index offset);

}  // namespace headwise
