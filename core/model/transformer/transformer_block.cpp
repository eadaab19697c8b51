#include "core/model/transformer/transformer_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/attention/heads.h"
#include "core/attention/rotary_embedding.h"
#include "core/model/layers/layer_parameters.h"
#include "core/model/transformer/transformer_weights.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

std::string in_block(const AttentionLayer& layer, std::string_view name) {
  return fmt::format("{}.{}", layer.name, name);
}

TensorPtr f32(const TensorPtr& tensor) {
  return !tensor || tensor->dtype() == DType::f32
             ? tensor
             : std::make_shared<const Tensor>(tensor->converted(DType::f32));
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

// The norms of a block. The second belongs to the feed-forward part.
std::vector<std::string_view> norms_of(const TransformerConfig& config) {
  if (config.norm_place == NormPlace::none) return {};
  if (config.feed_forward_dim == 0) return {config.names->attention_norm};
  return {config.names->attention_norm, config.names->feed_forward_norm};
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
  for (const std::string_view norm : norms_of(config)) {
    known.insert(norm_gain_name(files, in_block(layer, norm)));
    known.insert(norm_bias_name(files, in_block(layer, norm)));
  }
  for (const std::string_view buffer : names.buffers) known.insert(in_block(layer, buffer));
  return known;
}

void check_nothing_else(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const std::set<std::string> known = known_arrays(config, files, layer);
  const std::string prefix = layer.name + ".";
  for (auto at = files.arrays().lower_bound(prefix);
       at != files.arrays().end() && at->first.starts_with(prefix); ++at) {
    if (known.contains(at->first)) continue;
    throw Error(ExitStatus::input,
                {files.path() + ": " + at->first, "the block has an array unknown to the encoder",
                 fmt::format("({})", join(at->second.sizes, ",")),
                 fmt::format("a block as those of {}", config.names->family), ""});
  }
}

// x (L,heads·D), each head rotated by its positions.
Rows with_rotary_embedding(const TransformerConfig& config, const Rows& x, Index heads) {
  Tensor joined = Tensor::unwritten(Shape{{"N", 1}, {"L", x.rows()}, {"H·D", x.cols()}}, DType::f32);
  matrix<float>(joined) = x;
  const Tensor turned =
      rotary_embedding(split_heads(joined, heads, "H", "D"), config.rotary_inverse_frequencies);
  return matrix<float>(merge_heads(turned, nullptr, "H·D"));
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
          config.norm == NormKind::layer_norm};
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
    throw Error(ExitStatus::input,
                {files.path() + ": " + layer.name, "this layer cannot be computed: " + problem, "", "", ""});
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
  for (const std::string_view norm : norms_of(config)) check_norm(config, files, in_block(layer, norm), E);
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
  const TensorPtr packed = f32(parameters["in_proj_weight"]), bias = f32(parameters["in_proj_bias"]);
  const std::array parts{&block.q, &block.k, &block.v};
  const std::array rows{layer.q_rows, layer.k_rows, layer.v_rows};
  constexpr std::array separate{"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  for (std::size_t i = 0, first = 0; i < parts.size(); first += static_cast<std::size_t>(rows[i]), ++i) {
    *parts[i] = {.weight = packed ? packed : f32(parameters[separate[i]]),
                 .bias = bias,
                 .first_row = packed ? static_cast<Index>(first) : 0,
                 .first_bias = static_cast<Index>(first),
                 .out = rows[i],
                 .in = E};
  }
  block.out = {.weight = f32(parameters["out_proj.weight"]),
               .bias = f32(parameters["out_proj.bias"]),
               .out = E,
               .in = config.num_heads * config.v_head_dim};
  const std::vector<std::string_view> norms = norms_of(config);
  if (!norms.empty()) block.attention_norm = read_norm(config, files, in_block(layer, norms[0]), E);
  if (norms.size() > 1) block.feed_forward_norm = read_norm(config, files, in_block(layer, norms[1]), E);
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

Rows attention_output(const TransformerConfig& config, const TransformerBlock& block, const Rows& input,
                      std::span<const double> gains, float* attn_weights) {
  const TransformerHeads heads{config.num_heads,    config.num_kv_heads, config.head_dim,
                               config.v_head_dim,   config.is_causal,    config.sliding_window,
                               config.alibi_slopes, config.scale};
  Rows q = apply_linear(block.q, input), k = apply_linear(block.k, input);
  const Rows v = apply_linear(block.v, input);
  if (!config.rotary_inverse_frequencies.empty()) {
    q = with_rotary_embedding(config, q, config.num_heads);
    k = with_rotary_embedding(config, k, config.num_kv_heads);
  }
  const Rows concat = attend(heads, q, k, v, gains, attn_weights);
  return config.has_output_projection ? apply_linear(block.out, concat) : concat;
}

Rows after_attention(const TransformerConfig& config, const TransformerBlock& block, const Rows& x,
                     const Eigen::Ref<const Rows>& attended) {
  Rows between = x + attended;
  if (config.norm_place == NormPlace::after) {
    between = normalised(block.attention_norm, between);
    return normalised(block.feed_forward_norm, between + feed_forward(block.feed, between));
  }
  if (config.feed_forward_dim == 0) return between;
  const Rows& input = config.is_parallel ? x : between;
  if (config.norm_place == NormPlace::none) return between + feed_forward(block.feed, input);
  return between + feed_forward(block.feed, normalised(block.feed_forward_norm, input));
}

}  // namespace headwise
