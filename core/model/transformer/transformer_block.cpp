#include "core/model/transformer/transformer_block.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/norm.h"
#include "core/attention/output_gate.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/files/input_file.h"
#include "core/model/layers/latent_layers.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/layers/layer_parameters.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

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

Rows attend(const TransformerHeads& layout, const Rows& q, const Rows& k, const Rows& v,
            std::span<const double> gains, float* attn_weights, const Tensor* sinks,
            const Tensor* relative_bias) {
  const Index L = q.rows(), H = layout.heads, D = layout.head_dim, Dv = layout.v_head_dim;
  Rows concat(L, H * Dv);
  const Index blocks = (L + rows_at_once - 1) / rows_at_once;
  std::optional<RelativeBiasTable> by_distance;
  if (relative_bias) by_distance.emplace(layout.options.relative_bias.value(), *relative_bias, L);
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
      for (Index j = 0; j < keys && by_distance; ++j) exact(r, j) += (*by_distance)(h, j - i);
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

// Of the linear maps of a block.
Index bytes_of(const TransformerBlock& block) {
  std::set<const Tensor*> counted;  // q, k and v may be rows of one tensor
  Index bytes = 0;
  const auto add = [&](const TransformerLinear& linear) {
    for (const TensorPtr& tensor : {linear.weight, linear.bias})
      if (tensor && counted.insert(tensor.get()).second) bytes += static_cast<Index>(tensor->bytes());
  };
  const auto add_part = [&](const FeedForward& part) {
    add(part.in);
    if (part.gate) add(*part.gate);
    add(part.out);
  };
  for (const TransformerLinear* linear :
       {&block.q, &block.k, &block.v, &block.kv_a, &block.kv_b, &block.gate, &block.out})
    add(*linear);
  add_part(block.feed);
  add(block.experts.router);
  for (const FeedForward& expert : block.experts.each) add_part(expert);
  return bytes;
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
    check_linear(files, layer_array(layer, stem, ""), out, in, conv1d, config.attention_biases);
  };
  const bool latents = layer.layout == AttentionLayout::latent;  // layer_problem checks them all
  if (layer.packed_rows > 0) {
    check(family.qkv, layer.packed_rows, E);
  } else if (!latents) {
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

// The norms that the layer's block has arrays of.
std::vector<NamedNorm> norms_of(const TransformerConfig& config, const AttentionLayer& layer) {
  const TransformerNames& names = *config.names;
  std::vector<NamedNorm> norms;
  if (config.norm_place == NormPlace::none) return norms;
  const bool has_none = names.first_without_norm && layer.number == 0;
  norms = {{has_none ? "" : names.attention_norm, &TransformerBlock::attention_norm},
           {names.attention_output_norm, &TransformerBlock::attention_output_norm}};
  if (config.feed_forward_dim > 0) {
    if (!shares_norm(config))
      norms.push_back({names.feed_forward_norm, &TransformerBlock::feed_forward_norm});
    norms.push_back({names.feed_forward_output_norm, &TransformerBlock::feed_forward_output_norm});
  }
  std::erase_if(norms, [](const NamedNorm& each) { return each.name.empty(); });
  return norms;
}

// The arrays named by the attention layer's family, and those next to them; throws Error(input) if one of the
// feed-forward part is missing.
std::set<std::string> known_arrays(const TransformerConfig& config, const ModelFiles& files,
                                   const AttentionLayer& layer) {
  const TransformerNames& names = *config.names;
  const ModelFamily& family = *layer.family;
  std::set<std::string> known;
  const auto add_linear = [&](std::string_view stem, Biases biases) {
    if (stem.empty()) return;
    known.insert(layer_array(layer, stem, "weight"));
    if (biases != Biases::none) known.insert(layer_array(layer, stem, "bias"));
  };
  for (const std::string_view stem : {family.q, family.k, family.v, family.qkv})
    add_linear(stem, config.attention_biases);
  if (layer.layout == AttentionLayout::latent)
    for (const LatentArray& array : latent_arrays(layer))
      add_linear(array.stem, array.has_bias ? Biases::as_in_file : Biases::none);
  if (config.has_output_projection) add_linear(family.output, config.attention_biases);
  if (config.feed_forward_dim > 0) known.merge(check_feed_forward(config, files, layer));
  for (const NamedNorm& each : norms_of(config, layer)) {
    known.insert(norm_gain_name(files, in_block(config, layer, each.name)));
    known.insert(norm_bias_name(files, in_block(config, layer, each.name)));
  }
  if (!layer.gate.empty()) known.insert({layer.gate + ".weight", layer.gate + ".bias"});
  known.insert({layer.sinks, layer.relative_bias});
  known.insert(layer.q_norms.begin(), layer.q_norms.end());
  known.insert(layer.k_norms.begin(), layer.k_norms.end());
  for (const std::string_view buffer : names.buffers) known.insert(in_block(config, layer, buffer));
  return known;
}

void check_nothing_else(const TransformerConfig& config, const ModelFiles& files, const AttentionLayer& layer) {
  const std::set<std::string> known = known_arrays(config, files, layer);
  const std::string prefix = in_block(config, layer, "");
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
  const LayerOptions& options = layout.options;
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
  if (layout.by_length)
    rows = rotary_embedding(rows, model_rotation(*layout.by_length, layout.head_dim, x.rows()));
  else if (layout.rotation)
    rows = rotary_embedding(rows, layout.rotation);
  normalise(QkNorm::per_head_after_rotary, rows);
  return matrix<float>(merge_heads(rows, nullptr, "H·D"));
}

}  // namespace

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
  for (const NamedNorm& each : norms_of(config, layer))
    check_norm(config, files, in_block(config, layer, each.name), E);
  check_nothing_else(config, files, layer);
}

TransformerBlock read_block(const TransformerConfig& config, const ModelFiles& files,
                            const AttentionLayer& layer) {
  const Index E = config.embed_dim;
  auto parameters = read_layer_parameters(files, layer);
  TransformerBlock block;
  const TensorPtr packed = as_f32(parameters["in_proj_weight"]), bias = as_f32(parameters["in_proj_bias"]);
  const bool latents = layer.layout == AttentionLayout::latent;
  const Index C = layer.kv_lora_rank;
  if (latents) {
    block.kv_a = {.weight = as_f32(parameters["kv_a_proj_with_mqa.weight"]),
                  .bias = as_f32(parameters["kv_a_proj_with_mqa.bias"]),
                  .out = C + layer.qk_rope_head_dim,
                  .in = E};
    block.kv_b = {.weight = as_f32(parameters["kv_b_proj.weight"]), .out = layer.kv_b_rows, .in = C};
    block.latent_norm = {.gain = as_f32(parameters["kv_a_layernorm.weight"]),
                         .bias = nullptr,
                         .epsilon = layer_attention(layer).latent_norm_epsilon,
                         .centred = false};
  }
  const std::array parts{&block.q, &block.k, &block.v};
  const std::array rows{layer.q_rows, layer.k_rows, layer.v_rows};
  constexpr std::array separate{"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  for (std::size_t i = 0, first = 0; i < (latents ? 1 : parts.size());
       first += static_cast<std::size_t>(rows[i]), ++i) {
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
  if (const TensorPtr gate = as_f32(parameters["output_gate.weight"]))
    block.gate = {
        .weight = gate, .bias = as_f32(parameters["output_gate.bias"]), .out = gate->shape().size(0), .in = E};
  const auto number = static_cast<std::size_t>(layer.number);
  block.heads = config.attention.at(std::min(number, config.attention.size() - 1));
  block.sinks = as_f32(parameters["sinks"]);
  block.relative_bias = as_f32(parameters["relative_attention_bias.weight"]);
  block.q_norm = as_f32(parameters["q_norm.weight"]);
  block.k_norm = as_f32(parameters["k_norm.weight"]);
  for (const auto& [name, norm] : norms_of(config, layer))
    block.*norm = read_norm(config, files, in_block(config, layer, name), E);
  if (shares_norm(config)) block.feed_forward_norm = block.attention_norm;
  if (has_experts(config, files, layer))
    block.experts = read_experts(config, files, layer);
  else if (config.feed_forward_dim > 0)
    block.feed = read_feed_forward(config, files, layer);
  block.bytes = bytes_of(block);
  return block;
}

Rows attention_input(const TransformerConfig& config, const TransformerBlock& block, const Rows& x) {
  return config.norm_place == NormPlace::before ? normalised(block.attention_norm, x) : x;
}

namespace {

struct KeysAndValues {
  Rows k, v;  // (L,G·D), (L,G·Dv)
};

KeysAndValues keys_and_values(const TransformerBlock& block, const Rows& input) {
  if (!block.kv_a.weight) return {apply_linear(block.k, input), apply_linear(block.v, input)};
  const TransformerHeads& heads = block.heads;
  const Rows kv_a = apply_linear(block.kv_a, input);
  const Rows kv_b = apply_linear(block.kv_b, normalised(block.latent_norm, kv_a.leftCols(block.kv_b.in)));
  const Index D = heads.head_dim, Dv = heads.v_head_dim, R = kv_a.cols() - block.kv_b.in, own = D - R;
  KeysAndValues made{Rows(input.rows(), heads.heads * D), Rows(input.rows(), heads.heads * Dv)};
  for (Index h = 0; h < heads.heads; ++h) {
    made.k.middleCols(h * D, own) = kv_b.middleCols(h * (own + Dv), own);
    made.k.middleCols(h * D + own, R) = kv_a.rightCols(R);
    made.v.middleCols(h * Dv, Dv) = kv_b.middleCols(h * (own + Dv) + own, Dv);
  }
  return made;
}

// What a part of the block gives, as it is added.
Rows addend(const TransformerConfig& config, const Normalisation& norm, const Eigen::Ref<const Rows>& given) {
  return normalised(norm, given) * static_cast<float>(config.residual_factor);
}

}  // namespace

Rows attention_output(const TransformerConfig& config, const TransformerBlock& block, const Rows& input,
                      std::span<const double> gains, float* attn_weights) {
  const Rows q = on_path(block.heads, block.q_norm, apply_linear(block.q, input), config.num_heads);
  const KeysAndValues made = keys_and_values(block, input);
  const Rows k = on_path(block.heads, block.k_norm, made.k, config.num_kv_heads);
  Rows concat =
      attend(block.heads, q, k, made.v, gains, attn_weights, block.sinks.get(), block.relative_bias.get());
  if (block.gate.weight) {
    const Rows gate = apply_linear(block.gate, input);
    for (Index c = 0; c < concat.cols(); ++c)
      concat.col(c).array() *=
          gate.col(c * gate.cols() / concat.cols()).unaryExpr([](float x) { return float(sigmoid(x)); }).array();
  }
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
  return between + addend(config, block.feed_forward_output_norm,
                          block.experts.each.empty() ? feed_forward(block.feed, input)
                                                     : feed_forward(block.experts, input));
}

}  // namespace headwise
