#include "core/model/transformer/transformer_block.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/files/element_type.h"
#include "core/files/input_file.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/layers/layer_parameters.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr Index most_read_for_a_row = Index{16} << 20;

// Null stays.
TensorPtr as_f32(const TensorPtr& tensor) {
  return !tensor || tensor->dtype() == DType::f32
             ? tensor
             : std::make_shared<const Tensor>(tensor->converted(DType::f32));
}

}  // namespace

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
// In multiply-adds; less is not worth waking a thread for.
constexpr double least_shared_work = 2e5;

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

namespace {

constexpr double cost_of_activation = 40.0;  // in multiply-adds

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::relu:
      return x < 0.0 ? 0.0 : x;  // NaN stays
    case Activation::relu_squared:
      return x < 0.0 ? 0.0 : x * x;
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
  }
  return x;
}

// Query rows of a task: their scores against 4096 keys are half a MiB.
constexpr Index rows_at_once = 32;

// In a row of scores, those of keys [first, end) become weights, the others 0; −∞ is no sink.
void softmax_row(Eigen::Ref<Eigen::RowVectorXd> row, Index first, Index end, double sink) {
  row.head(first).setZero();
  row.tail(row.size() - end).setZero();
  auto seen = row.segment(first, end - first);
  const double largest = std::max(seen.maxCoeff<Eigen::PropagateNaN>(), sink);
  seen = (seen.array() - largest).exp();
  seen /= seen.sum() + std::exp(sink - largest);
}

}  // namespace

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

void activate(Activation activation, Rows& x) {
  for_ranges(x.size(), cost_of_activation, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      x.data()[i] = static_cast<float>(activated(activation, static_cast<double>(x.data()[i])));
  });
}

Rows feed_forward(const FeedForward& parts, const Rows& x) {
  Rows inner = apply_linear(parts.in, x);
  if (parts.gate) {
    Rows gate = apply_linear(*parts.gate, x);
    activate(parts.activation, gate);
    inner.array() *= gate.array();
  } else {
    activate(parts.activation, inner);
  }
  return apply_linear(parts.out, inner);
}

Rows attend(const TransformerHeads& layout, const Rows& q, const Rows& k, const Rows& v,
            std::span<const double> gains, float* attn_weights, const Tensor* sinks) {
  const Index L = q.rows(), H = layout.heads, D = layout.head_dim, Dv = layout.v_head_dim;
  Rows concat(L, H * Dv);
  const Index blocks = (L + rows_at_once - 1) / rows_at_once;
  const double scale = layout.scale.value_or(1.0 / std::sqrt(static_cast<double>(D)));
  const double work = static_cast<double>(H * L) * static_cast<double>(L * (D + Dv));
  run_tasks(H * blocks, work < least_shared_work ? 1 : available_threads(), [&](Index task, int) {
    const Index h = task / blocks, g = kv_head_of(h, H, layout.kv_heads);
    const Index first = task % blocks * rows_at_once, count = std::min(rows_at_once, L - first);
    const Index keys = layout.is_causal ? first + count : L;
    RowMatrix<double> exact =
        blockwise_product(q.block(first, h * D, count, D), k.block(0, g * D, keys, D).transpose()) * scale;
    if (layout.softcap > 0.0) exact = layout.softcap * (exact.array() / layout.softcap).tanh();
    for (Index r = 0; r < count; ++r) {
      const Index i = first + r, window = layout.sliding_window.value_or(L);
      for (Index j = 0; j < keys && !layout.alibi_slopes.empty(); ++j)
        exact(r, j) += alibi_bias(layout.alibi_slopes[static_cast<std::size_t>(h)], i - j, layout.is_causal);
      const Index end = layout.is_causal ? i + 1 : std::min(keys, i + std::min(window, L));
      softmax_row(exact.row(r), std::max<Index>(0, i - std::min(window, L) + 1), end,
                  sinks ? sinks->flat(h) : -HUGE_VAL);
    }
    const Rows weights = exact.cast<float>();
    const double gain = gains.empty() ? 1.0 : gains[static_cast<std::size_t>(h)];
    concat.block(first, h * Dv, count, Dv) =
        (blockwise_product(weights, v.block(0, g * Dv, keys, Dv)) * gain).cast<float>();
    if (!attn_weights) return;
    MatrixMap<float> kept(attn_weights + (h * L + first) * L, count, L);
    kept.leftCols(keys) = weights;
    kept.rightCols(L - keys).setZero();
  });
  return concat;
}

namespace {

std::string in_block(const AttentionLayer& layer, std::string_view name) {
  return fmt::format("{}.{}", layer.name, name);
}

Index bytes_of(std::initializer_list<const TensorPtr*> tensors) {
  std::set<const Tensor*> counted;  // q, k and v may be rows of one tensor
  Index bytes = 0;
  for (const TensorPtr* tensor : tensors)
    if (*tensor && counted.insert(tensor->get()).second) bytes += static_cast<Index>((*tensor)->bytes());
  return bytes;
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

bool shares_norm(const TransformerConfig& config) {
  return config.is_parallel && config.names->shares_norm;
}

// What layer_problem does not check: the width of v's weights, the output projection, biases.
void check_attention(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const ModelFamily& family = *layer.family;
  const bool conv1d = family.layout == AttentionLayout::packed_in;
  const Index E = config.embed_dim;
  const auto check = [&](std::string_view stem, Index out, Index in) {
    check_linear(files, in_block(layer, stem), out, in, conv1d, config.attention_biases);
  };
  if (layer.packed_rows > 0) {
    check(family.qkv, layer.packed_rows, E);
  } else {
    check(family.q, layer.q_rows, E);
    check(family.k, layer.k_rows, E);
    check(family.v, layer.v_rows, E);
  }
  if (config.has_output_projection) check(family.output, E, config.num_heads * config.v_head_dim);
}

struct NamedNorm {
  std::string_view name;
  Normalisation TransformerBlock::*norm;
};

// The norms that a block has arrays of.
std::vector<NamedNorm> norms_of(const TransformerConfig& config) {
  const TransformerNames& names = *config.names;
  std::vector<NamedNorm> norms;
  if (config.norm_place == NormPlace::none) return norms;
  norms = {{names.attention_norm, &TransformerBlock::attention_norm},
           {names.attention_output_norm, &TransformerBlock::attention_output_norm}};
  if (config.feed_forward_dim > 0) {
    if (!shares_norm(config))
      norms.push_back({names.feed_forward_norm, &TransformerBlock::feed_forward_norm});
    norms.push_back({names.feed_forward_output_norm, &TransformerBlock::feed_forward_output_norm});
  }
  std::erase_if(norms, [](const NamedNorm& each) { return each.name.empty(); });
  return norms;
}

// The arrays named by the attention layer's family, and those next to them.
std::set<std::string> known_arrays(const TransformerConfig& config, const ModelFiles& files,
                                   const AttentionLayer& layer) {
  const TransformerNames& names = *config.names;
  const ModelFamily& family = *layer.family;
  std::set<std::string> known;
  const auto add_linear = [&](std::string_view stem, Biases biases) {
    if (stem.empty()) return;
    known.insert(in_block(layer, stem) + "weight");
    if (biases != Biases::none) known.insert(in_block(layer, stem) + "bias");
  };
  for (const std::string_view stem : {family.q, family.k, family.v, family.qkv})
    add_linear(stem, config.attention_biases);
  if (config.has_output_projection) add_linear(family.output, config.attention_biases);
  if (config.feed_forward_dim > 0)
    for (const std::string_view stem : {names.feed_in, names.feed_gate, names.feed_out})
      add_linear(stem, config.feed_forward_biases);
  for (const NamedNorm& each : norms_of(config)) {
    known.insert(norm_gain_name(files, in_block(layer, each.name)));
    known.insert(norm_bias_name(files, in_block(layer, each.name)));
  }
  known.insert(layer.sinks);
  known.insert(layer.q_norms.begin(), layer.q_norms.end());
  known.insert(layer.k_norms.begin(), layer.k_norms.end());
  for (const std::string_view buffer : names.buffers) known.insert(in_block(layer, buffer));
  return known;
}

void check_nothing_else(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const std::set<std::string> known = known_arrays(config, files, layer);
  const std::string prefix = layer.name + ".";
  for (auto at = files.arrays().lower_bound(prefix);
       at != files.arrays().end() && at->first.starts_with(prefix); ++at) {
    if (known.contains(at->first)) continue;
    refuse_input(files.path() + ": " + at->first, "the block has an array unknown to the encoder",
                 fmt::format("({})", join(at->second.sizes, ",")),
                 fmt::format("a block as those of {}", config.names->family));
  }
}

// x (L,heads·D) on its way to the scores: normalised and rotated by its positions, where the layer asks for
// it (core/attention/score_path.h).
Rows on_path(const TransformerHeads& layout, const TensorPtr& weight, const Rows& x, Index heads) {
  const LayerOptions& options = layout.norms;
  if (!options.qk_norm && !layout.rotation) return x;
  const Norm norm{options.qk_norm_kind, options.qk_norm_epsilon, options.qk_norm_offset};
  Tensor joined = Tensor::unwritten(Shape{{"N", 1}, {"L", x.rows()}, {"H·D", x.cols()}}, DType::f32);
  matrix<float>(joined) = x;
  const auto normalise = [&](QkNorm place, Tensor& rows) {
    if (options.qk_norm == place) rows = normalised(rows, weight.get(), norm);
  };
  normalise(QkNorm::whole, joined);
  Tensor rows = split_heads(joined, heads, "H", "D");
  normalise(QkNorm::per_head, rows);
  if (layout.rotation) rows = rotary_embedding(rows, layout.rotation);
  normalise(QkNorm::per_head_after_rotary, rows);
  return matrix<float>(merge_heads(rows, nullptr, "H·D"));
}

}  // namespace

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

void check_block(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const auto refuse = [&](const std::string& problem) {
    refuse_input(files.path() + ": " + layer.name, "this layer cannot be computed: " + problem);
  };
  if (const std::string problem = layer_problem(layer); !problem.empty()) refuse(problem);
  const Index E = config.embed_dim;
  if (layer.query_width != E || layer.key_width != E || layer.q_rows != config.num_heads * config.head_dim ||
      layer.k_rows != config.num_kv_heads * config.head_dim ||
      layer.v_rows != config.num_kv_heads * config.v_head_dim) {
    refuse(fmt::format("its q, k and v are ({},{}), ({},{}) and ({},{}), unlike those of the first layer",
                       layer.q_rows, layer.query_width, layer.k_rows, layer.key_width, layer.v_rows,
                       layer.key_width));
  }
  check_attention(config, files, layer);
  const TransformerNames& names = *config.names;
  for (const NamedNorm& each : norms_of(config)) check_norm(config, files, in_block(layer, each.name), E);
  if (config.feed_forward_dim > 0) {
    const Index feed_in_rows = config.feed_forward_dim * (names.gate_is_in_feed_in ? 2 : 1);
    for (const std::string_view in : {names.feed_in, names.feed_gate})
      if (!in.empty())
        check_linear(files, in_block(layer, in), feed_in_rows, E, names.conv1d, config.feed_forward_biases);
    check_linear(files, in_block(layer, names.feed_out), E, config.feed_forward_dim, names.conv1d,
                 config.feed_forward_biases);
  }
  check_nothing_else(config, files, layer);
}

namespace {

FeedForward read_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                              const AttentionLayer& layer) {
  const TransformerNames& names = *config.names;
  const Index E = config.embed_dim, F = config.feed_forward_dim;
  const auto read = [&](std::string_view stem, Index out, Index in) {
    return read_linear(files, in_block(layer, stem), out, in, names.conv1d, config.feed_forward_biases);
  };
  FeedForward feed{.in = {}, .gate = {}, .out = {}, .activation = config.activation};
  if (names.gate_is_in_feed_in) {
    feed.in = read(names.feed_in, 2 * F, E);
    feed.in.out = F;
    feed.gate = feed.in;
    feed.in.first_row = feed.in.first_bias = F;
  } else {
    feed.in = read(names.feed_in, F, E);
    if (!names.feed_gate.empty()) feed.gate = read(names.feed_gate, F, E);
  }
  feed.out = read(names.feed_out, E, F);
  return feed;
}

}  // namespace

TransformerBlock read_block(const TransformerConfig& config, const ModelFiles& files,
                            const AttentionLayer& layer) {
  const Index E = config.embed_dim;
  auto parameters = read_layer_parameters(files, layer);
  TransformerBlock block;
  const TensorPtr packed = as_f32(parameters["in_proj_weight"]), bias = as_f32(parameters["in_proj_bias"]);
  const std::array parts{&block.q, &block.k, &block.v};
  const std::array rows{layer.q_rows, layer.k_rows, layer.v_rows};
  constexpr std::array separate{"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  for (std::size_t i = 0, first = 0; i < parts.size(); first += static_cast<std::size_t>(rows[i]), ++i) {
    *parts[i] = {.weight = packed ? packed : as_f32(parameters[separate[i]]),
                 .bias = bias,
                 .first_row = packed ? static_cast<Index>(first) : 0,
                 .first_bias = static_cast<Index>(first),
                 .out = rows[i],
                 .in = E};
  }
  block.out = {.weight = as_f32(parameters["out_proj.weight"]),
               .bias = as_f32(parameters["out_proj.bias"]),
               .out = E,
               .in = config.num_heads * config.v_head_dim};
  const auto number = static_cast<std::size_t>(layer.number);
  block.heads = config.attention.at(std::min(number, config.attention.size() - 1));
  block.sinks = as_f32(parameters["sinks"]);
  block.q_norm = as_f32(parameters["q_norm.weight"]);
  block.k_norm = as_f32(parameters["k_norm.weight"]);
  for (const auto& [name, norm] : norms_of(config))
    block.*norm = read_norm(config, files, in_block(layer, name), E);
  if (shares_norm(config)) block.feed_forward_norm = block.attention_norm;
  if (config.feed_forward_dim > 0) block.feed = read_feed_forward(config, files, layer);
  const TensorPtr none;
  block.bytes =
      bytes_of({&block.q.weight, &block.k.weight, &block.v.weight, &bias, &block.out.weight, &block.out.bias,
                &block.feed.in.weight, &block.feed.in.bias, block.feed.gate ? &block.feed.gate->weight : &none,
                &block.feed.out.weight, &block.feed.out.bias});
  return block;
}

Rows attention_input(const TransformerConfig& config, const TransformerBlock& block, const Rows& x) {
  return config.norm_place == NormPlace::before ? normalised(block.attention_norm, x) : x;
}

namespace {

// What a part of the block gives, as it is added.
Rows addend(const TransformerConfig& config, const Normalisation& norm, const Eigen::Ref<const Rows>& given) {
  return normalised(norm, given) * static_cast<float>(config.residual_factor);
}

}  // namespace

Rows attention_output(const TransformerConfig& config, const TransformerBlock& block, const Rows& input,
                      std::span<const double> gains, float* attn_weights) {
  const Rows q = on_path(block.heads, block.q_norm, apply_linear(block.q, input), config.num_heads);
  const Rows k = on_path(block.heads, block.k_norm, apply_linear(block.k, input), config.num_kv_heads);
  const Rows v = apply_linear(block.v, input);
  const Rows concat = attend(block.heads, q, k, v, gains, attn_weights, block.sinks.get());
  return config.has_output_projection ? apply_linear(block.out, concat) : concat;
}

Rows after_attention(const TransformerConfig& config, const TransformerBlock& block, const Rows& x,
                     const Eigen::Ref<const Rows>& attended) {
  Rows between = x + addend(config, block.attention_output_norm, attended);
  if (config.norm_place == NormPlace::after) {
    between = normalised(block.attention_norm, between);
    return normalised(block.feed_forward_norm, between + feed_forward(block.feed, between));
  }
  if (config.feed_forward_dim == 0) return between;
  const Rows input = normalised(block.feed_forward_norm, config.is_parallel ? x : between);
  return between + addend(config, block.feed_forward_output_norm, feed_forward(block.feed, input));
}

}  // namespace headwise
