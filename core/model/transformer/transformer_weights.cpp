#include "core/model/transformer/transformer_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/element_type.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr Index most_read_for_a_row = Index{16} << 20;

TensorPtr as_f32(const TensorPtr& tensor) {
  return tensor->dtype() == DType::f32 ? tensor : std::make_shared<const Tensor>(tensor->converted(DType::f32));
}

}  // namespace

void expect_array(const ModelFiles& files, const std::string& name, const std::vector<Index>& sizes) {
  const ArrayInfo* const info = files.find(name);
  if (info && !holds_floats(info->stored_dtype))
    throw Error(ExitStatus::input,
                {files.path() + ": " + name, "these are not weights",
                 fmt::format("numbers of type {}", info->stored_dtype), "floating-point numbers", ""});
  if (info && info->sizes == sizes) return;
  throw Error(
      ExitStatus::input,
      {files.path() + ": " + name, info ? "an array has the wrong shape" : "an array is missing",
       info ? fmt::format("({})", join(info->sizes, ",")) : "", fmt::format("({})", join(sizes, ",")), ""});
}

TensorPtr read_f32(const ModelFiles& files, const std::string& name, const std::vector<Index>& sizes) {
  expect_array(files, name, sizes);
  return as_f32(files.read(name));
}

bool WeightShare::take(Index bytes) {
  Index left = left_.load();
  while (left >= bytes)
    if (left_.compare_exchange_weak(left, left - bytes)) return true;
  return false;
}

WeightRows::WeightRows(std::shared_ptr<const ModelFiles> files, std::shared_ptr<WeightShare> share,
                       std::string name, Index rows, Index width)
    : files_(std::move(files)), share_(std::move(share)), name_(std::move(name)), rows_(rows), width_(width) {
  expect_array(*files_, name_, {rows, width});
}

TensorPtr WeightRows::kept(bool all_are_read) const {
  const std::lock_guard lock(mutex_);
  const Index bytes = checked_multiply(rows_ * width_, sizeof(float), name_);
  // Single rows of an array in a ZIP archive cannot be read.
  const bool wanted =
      all_are_read || bytes <= most_read_for_a_row || files_->first_file_info().format == "npz";
  if (wanted && !asked_) {
    asked_ = true;
    if (share_->take(bytes)) whole_ = read_f32(*files_, name_, {rows_, width_});
  }
  return whole_;
}

void WeightRows::copy_row(Index row, std::span<float> to) const {
  const TensorPtr whole = kept(false);
  const Part of = whole ? Part{whole, 0} : read(row, 1);
  const auto values = of.weight->values<float>();
  std::copy_n(values.begin() + (row - of.first_row) * width_, width_, to.begin());
}

WeightRows::Part WeightRows::part(Index first, Index count) const {
  if (TensorPtr whole = kept(true)) return {std::move(whole), 0};
  return read(first, count);
}

WeightRows::Part WeightRows::read(Index first, Index count) const {
  return {as_f32(files_->read_rows(name_, first, count)), first};
}

}  // namespace headwise
