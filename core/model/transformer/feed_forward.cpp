#include "core/model/transformer/feed_forward.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/files/input_file.h"
#include "core/model/transformer/activation.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// The rows of the array `name`weight, which may be missing or have any shape: then 0.
Index rows_of(const ModelFiles& files, const std::string& name, bool conv1d) {
  const ArrayInfo* const info = files.find(name + "weight");
  return info && info->sizes.size() == 2 ? info->sizes[conv1d ? 1 : 0] : 0;
}

// A linear map by the stem of its arrays, whole: "model.layers.0.mlp.experts.3.up_proj.".
struct NamedLinear {
  std::string stem;
  Index out = 0, in = 0;
};

// The maps of a feed-forward part with arrays of its own. Where the gate is in `in`, in.out is 2F.
struct PartLinears {
  NamedLinear in, out;
  std::optional<NamedLinear> gate;
  Index inner = 0;  // F, as its own arrays have it; that of the first block if they are missing
};

PartLinears part_of(const TransformerConfig& config, const ModelFiles& files, const std::string& in,
                    const std::string& gate, const std::string& out) {
  const bool packed = config.names->gate_is_in_feed_in;
  const Index E = config.embed_dim, rows = rows_of(files, in, config.names->conv1d),
              F = rows == 0 ? config.feed_forward_dim
                  : packed  ? rows / 2
                            : rows;
  PartLinears part{{in, packed ? 2 * F : F, E}, {out, E, F}, std::nullopt, F};
  if (!gate.empty()) part.gate = {gate, F, E};
  return part;
}

PartLinears part_in_block(const TransformerConfig& config, const ModelFiles& files,
                          const AttentionLayer& layer) {
  const std::string gate = config.feed_gate.empty() ? "" : in_block(config, layer, config.feed_gate);
  return part_of(config, files, in_block(config, layer, config.feed_in), gate,
                 in_block(config, layer, config.names->feed_out));
}

std::string name_of_expert(const TransformerConfig& config, const AttentionLayer& layer, Index expert,
                           std::string_view stem) {
  return fmt::format("{}{}.{}", in_block(config, layer, config.names->experts), expert, stem);
}

std::string joined(const TransformerConfig& config, const AttentionLayer& layer, const char* name) {
  return in_block(config, layer, config.names->experts) + name;
}

void add_names(std::set<std::string>& known, const std::string& stem, Biases biases) {
  known.insert(stem + "weight");
  if (biases != Biases::none) known.insert(stem + "bias");
}

// Of one part with arrays of its own.
void check_part(const TransformerConfig& config, const ModelFiles& files, const PartLinears& part,
                std::set<std::string>& known) {
  const auto check = [&](const NamedLinear& linear) {
    check_linear(files, linear.stem, linear.out, linear.in, config.names->conv1d, config.feed_forward_biases);
    add_names(known, linear.stem, config.feed_forward_biases);
  };
  check(part.in);
  if (part.gate) check(*part.gate);
  check(part.out);
}

FeedForward read_part(const TransformerConfig& config, const ModelFiles& files, const PartLinears& part) {
  const auto read = [&](const NamedLinear& linear) {
    return read_linear(files, linear.stem, linear.out, linear.in, config.names->conv1d,
                       config.feed_forward_biases);
  };
  FeedForward feed{.in = read(part.in), .gate = {}, .out = {}, .activation = config.activation, .clamped = {}};
  if (config.names->gate_is_in_feed_in) {
    feed.in.out = part.inner;
    feed.gate = feed.in;
    feed.in.first_row = feed.in.first_bias = part.inner;
  } else if (part.gate) {
    feed.gate = read(*part.gate);
  }
  feed.out = read(part.out);
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

// The arrays of a block's experts, beside its router: `each` has a part's, `joined` those of all.
struct ExpertArrays {
  NamedLinear router;  // (N,E)
  std::vector<PartLinears> each;
  std::vector<std::pair<std::string, std::vector<Index>>> joined;
};

ExpertArrays arrays_of_experts(const TransformerConfig& config, const ModelFiles& files,
                               const AttentionLayer& layer) {
  const TransformerNames& names = *config.names;
  const std::string router = in_block(config, layer, names.router);
  ExpertArrays arrays{{router, rows_of(files, router, false), config.embed_dim}, {}, {}};
  if (names.joined_experts) {
    arrays.joined = joined_arrays(config, files, layer);
    return arrays;
  }
  for (Index expert = 0; expert < arrays.router.out; ++expert) {
    const auto named = [&](std::string_view stem) { return name_of_expert(config, layer, expert, stem); };
    arrays.each.push_back(
        part_of(config, files, named(names.expert_in), named(names.expert_gate), named(names.expert_out)));
  }
  return arrays;
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
  return !router.empty() && files.find(in_block(config, layer, router) + "weight");
}

Index expert_width(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  return config.names->joined_experts
             ? joined_sizes(config, files, layer).inner
             : rows_of(files, name_of_expert(config, layer, 0, config.names->expert_in), false);
}

std::set<std::string> check_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                                         const AttentionLayer& layer) {
  std::set<std::string> known;
  if (!has_experts(config, files, layer)) {
    check_part(config, files, part_in_block(config, files, layer), known);
    return known;
  }
  const ExpertArrays arrays = arrays_of_experts(config, files, layer);
  const auto& [router, experts, width] = arrays.router;
  check_linear(files, router, experts, width, false, config.feed_forward_biases);
  add_names(known, router, config.feed_forward_biases);
  const Index chosen = config.chosen_experts;
  if (chosen < 1 || chosen > experts)
    refuse_input(files.path() + ": " + layer.name,
                 chosen < 1 ? "no experts are chosen for a token"
                            : "more experts are chosen for a token than there are",
                 fmt::format("num_experts_per_tok = {}", chosen),
                 fmt::format("1 to {}, the rows of {}weight", experts, router));
  for (const auto& [name, sizes] : arrays.joined) {
    expect_array(files, name, sizes);
    known.insert(name);
  }
  for (const PartLinears& part : arrays.each) check_part(config, files, part, known);
  if (!arrays.joined.empty() && joined_sizes(config, files, layer).experts != experts)
    refuse_input(files.path() + ": " + layer.name, "its router and its experts disagree",
                 fmt::format("{} experts", joined_sizes(config, files, layer).experts),
                 fmt::format("{}, the rows of {}weight", experts, router));
  return known;
}

FeedForward read_feed_forward(const TransformerConfig& config, const ModelFiles& files,
                              const AttentionLayer& layer) {
  return read_part(config, files, part_in_block(config, files, layer));
}

Experts read_experts(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  Experts read;
  read.chosen = config.chosen_experts;
  read.weighs_chosen = config.weighs_chosen_experts;
  const ExpertArrays named = arrays_of_experts(config, files, layer);
  const auto& [router, experts, width] = named.router;
  read.router = read_linear(files, router, experts, width, false, config.feed_forward_biases);
  for (const PartLinears& part : named.each) read.each.push_back(read_part(config, files, part));
  if (named.joined.empty()) return read;
  std::vector<TensorPtr> arrays;
  for (const auto& [name, sizes] : named.joined) arrays.push_back(read_f32(files, name, sizes));
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
