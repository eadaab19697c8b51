#include "core/model/transformer/transformer_weights.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/files/element_type.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr Index most_read_for_a_row = Index{16} << 20;

}  // namespace

TensorPtr as_f32(const TensorPtr& tensor) {
  return !tensor || tensor->dtype() == DType::f32
             ? tensor
             : std::make_shared<const Tensor>(tensor->converted(DType::f32));
}

void expect_array(const ModelFiles& files, const std::string& name, const std::vector<Index>& sizes) {
  const ArrayInfo* const info = files.find(name);
  if (info && !holds_floats(info->stored_dtype))
    refuse_input(files.path() + ": " + name, "these are not weights",
                 fmt::format("numbers of type {}", info->stored_dtype), "floating-point numbers");
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

namespace {

// Columns of y per task: this many rows of a weight 4096 wide are 2 MiB.
constexpr Index columns_at_once = 128;

}  // namespace

Rows apply_linear(const TransformerLinear& linear, const Eigen::Ref<const Rows>& x) {
  Rows y(x.rows(), linear.out);
  const auto weight = matrix<float>(*linear.weight);
  const double work =
      static_cast<double>(x.rows()) * static_cast<double>(linear.in) * static_cast<double>(linear.out);
  const Index tasks = (linear.out + columns_at_once - 1) / columns_at_once;
  run_tasks(tasks, work < least_shared_work ? 1 : available_threads(), [&](Index task, int) {
    const Index first = task * columns_at_once, count = std::min(columns_at_once, linear.out - first);
    RowMatrix<double> made =
        linear.is_conv1d
            ? blockwise_product(x, weight.middleCols(first, count))
            : blockwise_product(x, weight.middleRows(linear.first_row + first, count).transpose());
    if (linear.bias) {
      const Eigen::Map<const Eigen::RowVectorXf> bias(
          linear.bias->values<float>().data() + linear.first_bias + first, count);
      made.rowwise() += bias.cast<double>();
    }
    y.middleCols(first, count) = made.cast<float>();
  });
  return y;
}

Rows normalised(const Normalisation& norm, const Rows& x) {
  if (!norm.gain) return x;
  Rows y(x.rows(), x.cols());
  const auto vector = [&](const TensorPtr& tensor) {
    return Eigen::Map<const Eigen::RowVectorXf>(tensor->values<float>().data(), x.cols()).cast<double>().array();
  };
  const auto width = static_cast<double>(x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const auto from = x.row(row).cast<double>();
    const double mean = norm.centred ? from.sum() / width : 0.0;
    const double variance = (from.array() - mean).square().sum() / width;
    const double factor = 1.0 / std::sqrt(variance + norm.epsilon);
    const auto scaled = (from.array() - mean) * factor * (vector(norm.gain) + norm.offset);
    if (norm.bias)
      y.row(row) = (scaled + vector(norm.bias)).cast<float>();
    else
      y.row(row) = scaled.cast<float>();
  }
  return y;
}

std::string in_block(const TransformerConfig& config, const AttentionLayer& layer, std::string_view name) {
  std::string_view block = layer.name;
  block.remove_suffix(config.names->attention_in_block.size());
  return fmt::format("{}.{}", block, name);
}

std::vector<Index> stored_sizes(Index out, Index in, bool conv1d) {
  return conv1d ? std::vector{in, out} : std::vector{out, in};
}

bool has_bias(const ModelFiles& files, const std::string& name, Biases biases) {
  return biases == Biases::all || (biases == Biases::as_in_file && files.find(name + "bias"));
}

void check_linear(const ModelFiles& files, const std::string& name, Index out, Index in, bool conv1d,
                  Biases biases) {
  expect_array(files, name + "weight", stored_sizes(out, in, conv1d));
  if (has_bias(files, name, biases)) expect_array(files, name + "bias", {out});
}

void check_norm(const TransformerConfig& config, const ModelFiles& files, const std::string& norm, Index width) {
  const std::string gain = norm_gain_name(files, norm), bias = norm_bias_name(files, norm);
  expect_array(files, gain.empty() ? norm + "weight" : gain, {width});
  if (!bias.empty() || config.names->has_bias)
    expect_array(files, bias.empty() ? norm + "bias" : bias, {width});
}

Normalisation read_norm(const TransformerConfig& config, const ModelFiles& files, const std::string& norm,
                        Index width) {
  check_norm(config, files, norm, width);
  const std::string bias = norm_bias_name(files, norm);
  return {read_f32(files, norm_gain_name(files, norm), {width}),
          bias.empty() ? nullptr : read_f32(files, bias, {width}), config.norm_epsilon,
          config.norm == NormKind::layer, config.names->norm_offset};
}

TransformerLinear read_linear(const ModelFiles& files, const std::string& name, Index out, Index in,
                              bool conv1d, Biases biases) {
  check_linear(files, name, out, in, conv1d, biases);
  TransformerLinear linear{.out = out, .in = in, .is_conv1d = conv1d};
  linear.weight = read_f32(files, name + "weight", stored_sizes(out, in, conv1d));
  if (has_bias(files, name, biases)) linear.bias = read_f32(files, name + "bias", {out});
  return linear;
}

}  // namespace headwise
