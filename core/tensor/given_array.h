// Arrays that are known by shape and type before their values are read.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/tensor/tensor.h"

namespace headwise {

// A value that is read when it is first needed, from any thread. If reading throws, the next call tries
// again.
template <class T>
class ReadOnce {
 public:
  explicit ReadOnce(std::function<T()> read) : read_(std::move(read)) {}
  const T& get() {
    const std::scoped_lock lock(mutex_);
    if (!value_) value_ = read_();
    read_ = nullptr;  // and the files that it holds open
    return *value_;
  }
  bool is_read() {
    const std::scoped_lock lock(mutex_);
    return value_.has_value();
  }

 private:
  std::mutex mutex_;
  std::function<T()> read_;
  std::optional<T> value_;
};

// An array from outside, whose shape and type are known before its values are read.
class GivenArray {
 public:
  GivenArray() = default;
  template <class T>
  GivenArray(std::shared_ptr<T> tensor) : outline_(std::move(tensor)) {}
  // `outline` is what `read` returns, without its values.
  GivenArray(Tensor outline, std::function<TensorPtr()> read)
      : outline_(std::make_shared<const Tensor>(std::move(outline))),
        values_(std::make_shared<ReadOnce<TensorPtr>>(std::move(read))) {}

  // For its shape and type: the values may be missing (Tensor::outline).
  const Tensor& outline() const { return *outline_; }
  // With its values, which are read now unless they have been. Throws Error(input), Error(memory).
  const TensorPtr& tensor() const { return values_ ? values_->get() : outline_; }
  bool is_read() const { return !values_ || values_->is_read(); }

 private:
  TensorPtr outline_;
  std::shared_ptr<ReadOnce<TensorPtr>> values_;  // null: outline_ has them
};

}  // namespace headwise
