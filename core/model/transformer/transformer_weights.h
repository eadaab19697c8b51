// The arrays of a transformer in f32, and which of them stay in memory: small ones are read once; in a model
// larger than memory each part is read when needed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/model/files/model_files.h"

namespace headwise {

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

}  // namespace headwise
