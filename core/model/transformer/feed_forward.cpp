#include "core/model/transformer/feed_forward.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/files/input_file.h"
#include "core/tensor/task_threads.h"

namespace headwise {
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

// The rows of the array `name`weight, which may be missing or have any shape: then 0.
Index rows_of(const ModelFiles& files, const std::string& name, bool conv1d) {
  const ArrayInfo* const info = files.find(name + "weight");
  return info && info->sizes.size() == 2 ? info->sizes[conv1d ? 1 : 0] : 0;
}

// Stems of the arrays of one feed-forward part, each whole: "model.layers.0.mlp.experts.3.up_proj.".
struct FeedNames {
  std::string in, gate, out;
};

FeedNames names_in_block(const TransformerConfig& config, const AttentionLayer& layer) {
  const TransformerNames& names = *config.names;
  return {in_block(layer, names.feed_in), names.feed_gate.empty() ? "" : in_block(layer, names.feed_gate),
          in_block(layer, names.feed_out)};
}

FeedNames names_of_expert(const TransformerConfig& config, const AttentionLayer& layer, Index expert) {
  const TransformerNames& names = *config.names;
  const std::string before = fmt::format("{}{}.", in_block(layer, names.experts), expert);
  return {before + std::string(names.expert_in), before + std::string(names.expert_gate),
          before + std::string(names.expert_out)};
}

std::string joined(const TransformerConfig& config, const AttentionLayer& layer, const char* name) {
  return in_block(layer, config.names->experts) + name;
}

void add_names(std::set<std::string>& known, const std::string& stem, Biases biases) {
  if (stem.empty()) return;
  known.insert(stem + "weight");
  if (biases != Biases::none) known.insert(stem + "bias");
}

// Of one part with arrays of its own.
void check_part(const TransformerConfig& config, const ModelFiles& files, const FeedNames& names,
                std::set<std::string>& known) {
  const bool conv1d = config.names->conv1d, packed = config.names->gate_is_in_feed_in;
  const Biases biases = config.feed_forward_biases;
  const Index rows = rows_of(files, names.in, conv1d);
  const Index inner = rows == 0 ? config.feed_forward_dim : packed ? rows / 2 : rows;
  for (const std::string& stem : {names.in, names.gate})
    if (!stem.empty())
      check_linear(files, stem, packed ? 2 * inner : inner, config.embed_dim, conv1d, biases);
  check_linear(files, names.out, config.embed_dim, inner, conv1d, biases);
  for (const std::string& stem : {names.in, names.gate, names.out}) add_names(known, stem, biases);
}

FeedForward read_part(const TransformerConfig& config, const ModelFiles& files, const FeedNames& names) {
  const bool conv1d = config.names->conv1d, packed = config.names->gate_is_in_feed_in;
  const Index E = config.embed_dim, rows = rows_of(files, names.in, conv1d), F = packed ? rows / 2 : rows;
  const auto read = [&](const std::string& stem, Index out, Index in) {
    return read_linear(files, stem, out, in, conv1d, config.feed_forward_biases);
  };
  FeedForward feed{.in = {}, .gate = {}, .out = {}, .activation = config.activation, .clamped = {}};
  if (packed) {
    feed.in = read(names.in, 2 * F, E);
    feed.in.out = F;
    feed.gate = feed.in;
    feed.in.first_row = feed.in.first_bias = F;
  } else {
    feed.in = read(names.in, F, E);
    if (!names.gate.empty()) feed.gate = read(names.gate, F, E);
  }
  feed.out = read(names.out, E, F);
  return feed;
}

// gpt-oss: the arrays of all experts joined, (N,E,2F) with gate and in alternating, and (N,F,E).
struct JoinedSizes {
  Index experts = 0, inner = 0;
};

JoinedSizes joined_sizes(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const ArrayInfo* const info = files.find(joined(config, layer, "down_proj"));
  return info && info->sizes.size() == 3 ? JoinedSizes{info->sizes[0], info->sizes[1]} : JoinedSizes{};
}

std::vector<std::pair<std::string, std::vector<Index>>> joined_arrays(const TransformerConfig& config,
                                                                      const ModelFiles& files,
                                                                      const AttentionLayer& layer) {
  const auto [N, F] = joined_sizes(config, files, layer);
  const Index E = config.embed_dim;
  return {{joined(config, layer, "gate_up_proj"), {N, E, 2 * F}},
          {joined(config, layer, "gate_up_proj_bias"), {N, 2 * F}},
          {joined(config, layer, "down_proj"), {N, F, E}},
          {joined(config, layer, "down_proj_bias"), {N, E}}};
}

// Columns first, first + step … of expert `n`, as a linear map (out,in).
TransformerLinear expert_columns(const Tensor& weights, const Tensor& biases, Index n, Index first, Index step) {
  const Index in = weights.shape().size(1), columns = weights.shape().size(2), out = columns / step;
  Tensor weight = Tensor::unwritten(Shape{{"out", out}, {"in", in}}, DType::f32);
  Tensor bias = Tensor::unwritten(Shape{{"out", out}}, DType::f32);
  const auto from = weights.values<float>();
  const auto to = weight.values<float>();
  for (Index o = 0; o < out; ++o) {
    for (Index i = 0; i < in; ++i)
      to[static_cast<std::size_t>(o * in + i)] =
          from[static_cast<std::size_t>((n * in + i) * columns + first + o * step)];
    bias.values<float>()[static_cast<std::size_t>(o)] =
        biases.values<float>()[static_cast<std::size_t>(n * columns + first + o * step)];
  }
  return {.weight = std::make_shared<const Tensor>(std::move(weight)),
          .bias = std::make_shared<const Tensor>(std::move(bias)),
          .out = out,
          .in = in};
}

Index expert_count(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  return rows_of(files, in_block(layer, config.names->router), false);
}

// The k experts of a token, by its logits.
std::vector<Index> chosen_experts(const Eigen::Ref<const Eigen::RowVectorXf>& logits, Index k) {
  const auto rank = [&](Index expert) { return std::isnan(logits[expert]) ? HUGE_VALF : logits[expert]; };
  std::vector<Index> experts(static_cast<std::size_t>(logits.size()));
  std::iota(experts.begin(), experts.end(), Index{0});
  std::ranges::stable_sort(experts, [&](Index a, Index b) { return rank(a) > rank(b); });
  experts.resize(static_cast<std::size_t>(k));
  return experts;
}

}  // namespace

void activate(Activation activation, Rows& x) {
  for_ranges(x.size(), cost_of_activation, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      x.data()[i] = static_cast<float>(activated(activation, static_cast<double>(x.data()[i])));
  });
}

Rows feed_forward(const FeedForward& parts, const Rows& x) {
  Rows inner = apply_linear(parts.in, x);
  if (parts.clamped) {
    const auto limit = static_cast<float>(parts.clamped->limit),
               alpha = static_cast<float>(parts.clamped->alpha);
    const Rows gate = apply_linear(*parts.gate, x).array().min(limit);
    inner =
        (inner.array().max(-limit).min(limit) + 1.0F) * gate.array() / (1.0F + (-alpha * gate.array()).exp());
  } else if (parts.gate) {
    Rows gate = apply_linear(*parts.gate, x);
    activate(parts.activation, gate);
    inner.array() *= gate.array();
  } else {
    activate(parts.activation, inner);
  }
  return apply_linear(parts.out, inner);
}

Rows feed_forward(const Experts& experts, const Rows& x) {
  const Rows logits = apply_linear(experts.router, x);
  // The tokens of each expert, and the weights of what it gives.
  std::vector<std::vector<std::pair<Index, double>>> tokens(experts.each.size());
  for (Index row = 0; row < x.rows(); ++row) {
    const std::vector<Index> chosen = chosen_experts(logits.row(row), experts.chosen);
    const double largest = logits(row, chosen.front());
    const auto share = [&](Index expert) { return std::exp(logits(row, expert) - largest); };
    double sum = 0.0;
    if (experts.weighs_chosen)
      for (const Index expert : chosen) sum += share(expert);
    else
      for (Index expert = 0; expert < logits.cols(); ++expert) sum += share(expert);
    for (const Index expert : chosen)
      tokens[static_cast<std::size_t>(expert)].emplace_back(row, share(expert) / sum);
  }
  RowMatrix<double> result = RowMatrix<double>::Zero(x.rows(), x.cols());
  for (std::size_t expert = 0; expert < tokens.size(); ++expert) {
    const auto& its = tokens[expert];
    if (its.empty()) continue;
    Rows rows(static_cast<Index>(its.size()), x.cols());
    for (std::size_t i = 0; i < its.size(); ++i) rows.row(static_cast<Index>(i)) = x.row(its[i].first);
    const Rows given = feed_forward(experts.each[expert], rows);
    for (std::size_t i = 0; i < its.size(); ++i)
      result.row(its[i].first) += its[i].second * given.row(static_cast<Index>(i)).cast<double>();
  }
  return result.cast<float>();
}

bool has_experts(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const std::string_view router = config.names->router;
  return !router.empty() && files.find(in_block(layer, router) + "weight");
}

Index expert_width(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  return config.names->joined_experts ? joined_sizes(config, files, layer).inner
                                      : rows_of(files, names_of_expert(config, layer, 0).in, false);
}

std::set<std::string> check_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                                         const AttentionLayer& layer) {
  std::set<std::string> known;
  if (!has_experts(config, files, layer)) {
    check_part(config, files, names_in_block(config, layer), known);
    return known;
  }
  const std::string router = in_block(layer, config.names->router);
  const Index experts = expert_count(config, files, layer);
  check_linear(files, router, experts, config.embed_dim, false, config.feed_forward_biases);
  add_names(known, router, config.feed_forward_biases);
  if (config.chosen_experts < 1 || config.chosen_experts > experts)
    refuse_input(files.path() + ": " + layer.name, "more experts are chosen for a token than there are",
                 fmt::format("num_experts_per_tok = {}", config.chosen_experts),
                 fmt::format("1 to {}, the rows of {}weight", experts, router));
  if (config.names->joined_experts) {
    for (const auto& [name, sizes] : joined_arrays(config, files, layer)) {
      expect_array(files, name, sizes);
      known.insert(name);
    }
    if (joined_sizes(config, files, layer).experts != experts)
      refuse_input(files.path() + ": " + layer.name, "its router and its experts disagree",
                   fmt::format("{} experts", joined_sizes(config, files, layer).experts),
                   fmt::format("{}, the rows of {}weight", experts, router));
  } else {
    for (Index expert = 0; expert < experts; ++expert)
      check_part(config, files, names_of_expert(config, layer, expert), known);
  }
  return known;
}

FeedForward read_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                              const AttentionLayer& layer) {
  return read_part(config, files, names_in_block(config, layer));
}

Experts read_experts(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  Experts read;
  read.chosen = config.chosen_experts;
  read.weighs_chosen = config.weighs_chosen_experts;
  const Index experts = expert_count(config, files, layer);
  read.router = read_linear(files, in_block(layer, config.names->router), experts, config.embed_dim, false,
                            config.feed_forward_biases);
  if (!config.names->joined_experts) {
    for (Index expert = 0; expert < experts; ++expert)
      read.each.push_back(read_part(config, files, names_of_expert(config, layer, expert)));
    return read;
  }
  std::vector<TensorPtr> arrays;
  for (const auto& [name, sizes] : joined_arrays(config, files, layer))
    arrays.push_back(read_f32(files, name, sizes));
  for (Index expert = 0; expert < experts; ++expert) {
    const auto columns = [&](std::size_t weights, Index first, Index step) {
      return expert_columns(*arrays[weights], *arrays[weights + 1], expert, first, step);
    };
    read.each.push_back({.in = columns(0, 1, 2),
                         .gate = columns(0, 0, 2),
                         .out = columns(2, 0, 1),
                         .activation = config.activation,
                         .clamped = config.clamped_gate});
  }
  return read;
}

}  // namespace headwise
