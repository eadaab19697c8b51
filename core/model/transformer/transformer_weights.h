// The arrays of a transformer in f32, and what is computed with them: affine maps and norms.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/model/files/model_files.h"
#include "core/model/transformer/transformer_config.h"
#include "core/tensor/eigen_maps.h"

namespace headwise {

// In multiply-adds; less is not worth waking a thread for.
inline constexpr double least_shared_work = 2e5;

// Which of them stay in memory: small ones are read once; in a model larger than memory each part is read
// when needed.

TensorPtr as_f32(const TensorPtr& tensor);  // null stays

// Throws Error(input) naming the array, its shape and the expected one if it is missing or has the wrong
// shape.
void expect_array(const ModelFiles& files, const std::string& name, const std::vector<Index>& sizes);
// An array of these sizes, in f32. Throws Error(input), Error(memory).
TensorPtr read_f32(const ModelFiles& files, const std::string& name, const std::vector<Index>& sizes);

// How much memory weights may keep.
class WeightShare {
 public:
  explicit WeightShare(Index bytes) : left_(bytes) {}
  bool take(Index bytes);  // false: that much is not left, and nothing is taken

 private:
  std::atomic<Index> left_;
};

// A matrix (rows, width) that is read row by row: the token embeddings, the decoder over the vocabulary. If
// there is room, it is kept once more than single rows are requested; a small one immediately.
class WeightRows {
 public:
  // Checks shapes, reads nothing.
  WeightRows(std::shared_ptr<const ModelFiles> files, std::shared_ptr<WeightShare> share, std::string name,
             Index rows, Index width);

  Index rows() const { return rows_; }
  Index width() const { return width_; }
  // Writes row `row` (< rows()) to `to` (width()).
  void copy_row(Index row, std::span<float> to) const;
  // A matrix with rows [first, first + count) at first_row: all rows if they are kept.
  struct Part {
    TensorPtr weight;
    Index first_row = 0;
  };
  Part part(Index first, Index count) const;

 private:
  Part read(Index first, Index count) const;
  TensorPtr kept(bool all_are_read) const;  // null: it is not kept

  std::shared_ptr<const ModelFiles> files_;
  std::shared_ptr<WeightShare> share_;
  std::string name_;
  Index rows_, width_;
  mutable std::mutex mutex_;
  mutable bool asked_ = false;
  mutable TensorPtr whole_;
};

// The affine maps of a transformer in f32: y = x·Wᵀ + b, for a few rows of x and large weights.

using Rows = RowMatrix<float>;  // one row per token

// Adjacent rows of a weight (out,in), torch.nn.Linear, or the whole of a weight (in,out), GPT-2's Conv1D.
struct TransformerLinear {
  TensorPtr weight = nullptr;
  TensorPtr bias = nullptr;  // null: none
  Index first_row = 0;       // of `weight`
  Index first_bias = 0;      // of `bias`
  Index out = 0, in = 0;
  bool is_conv1d = false;
};

// left·right, where sums over the depth are computed in f32 for a few terms at a time and added up in f64: as
// fast as an f32 product, with an eighth of its error at a depth of a thousand.
template <class A, class B>
RowMatrix<double> blockwise_product(const Eigen::MatrixBase<A>& left, const Eigen::MatrixBase<B>& right) {
  constexpr Index depth_at_once = 32;
  RowMatrix<double> sum = RowMatrix<double>::Zero(left.rows(), right.cols());
  Rows part(left.rows(), right.cols());
  for (Index k = 0; k < left.cols(); k += depth_at_once) {
    const Index depth = std::min(depth_at_once, left.cols() - k);
    part.noalias() = left.middleCols(k, depth) * right.middleRows(k, depth);
    sum += part.template cast<double>();
  }
  return sum;
}

// x (L,in) → (L,out). The result does not depend on the number of threads. Throws Error(cancelled).
Rows apply_linear(const TransformerLinear& linear, const Eigen::Ref<const Rows>& x);

// torch.nn.LayerNorm (Ba et al. 2016): (x − mean)/√(variance + ε)·gain + bias;
// RMSNorm (Zhang and Sennrich 2019): x/√(mean of x² + ε)·gain. Sums are computed in double.
struct Normalisation {
  TensorPtr gain;  // (E)
  TensorPtr bias;  // (E), or null: none
  double epsilon = 0.0;
  bool centred = true;  // LayerNorm
  double offset = 0.0;  // added to the gain
};

Rows normalised(const Normalisation& norm, const Rows& x);

// "encoder.layer.0.output.dense.", from a block's layer and a name of the block.
std::string in_block(const TransformerConfig& config, const AttentionLayer& layer, std::string_view name);

// How a linear map is stored, and whether it has a bias.
std::vector<Index> stored_sizes(Index out, Index in, bool conv1d);
bool has_bias(const ModelFiles& files, const std::string& name, Biases biases);
void check_linear(const ModelFiles& files, const std::string& name, Index out, Index in, bool conv1d,
                  Biases biases);
// The norm named `norm` ("bert.embeddings.LayerNorm.").
Normalisation read_norm(const TransformerConfig& config, const ModelFiles& files, const std::string& norm,
                        Index width);
void check_norm(const TransformerConfig& config, const ModelFiles& files, const std::string& norm, Index width);
// A linear map `name` ("lm_head.dense.") with its bias.
TransformerLinear read_linear(const ModelFiles& files, const std::string& name, Index out, Index in,
                              bool conv1d, Biases biases);

}  // namespace headwise
