#include "core/model/transformer/transformer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/files/input_file.h"
#include "core/model/transformer/activation.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Adds PE(position, 2i) = sin(position/10000^(2i/E)), PE(position, 2i+1) = cos of the same angle.
void add_sinusoids(Rows& x) {
  const auto width = static_cast<double>(x.cols());
  for (Index position = 0; position < x.rows(); ++position) {
    for (Index e = 0; e < x.cols(); ++e) {
      const auto pair = static_cast<double>(e / 2 * 2);
      const double angle = static_cast<double>(position) * std::pow(10000.0, -pair / width);
      x(position, e) += static_cast<float>(e % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

}  // namespace

TokenEmbeddings::TokenEmbeddings(const TransformerConfig& config, std::shared_ptr<const ModelFiles> files,
                                 const std::shared_ptr<WeightShare>& share)
    : config_(config) {
  const TransformerNames& names = *config.names;
  const Index width = config.word_width;
  const auto named = [&](std::string_view name) { return config.root + std::string(name); };
  words_ = std::make_shared<const WeightRows>(files, share, words_name(names, *files, config.root),
                                              config.vocabulary, width);
  if (config.positions == PositionKind::learned) {
    positions_ = std::make_shared<const WeightRows>(files, share, named(names.position_embeddings),
                                                    config.first_position + config.max_positions,
                                                    names.first_projection.empty() ? width : config.embed_dim);
  }
  if (!names.token_type_embeddings.empty()) {
    const std::string name = named(names.token_type_embeddings);
    if (const ArrayInfo* const info = files->find(name); info && !info->sizes.empty() && info->sizes[0] > 0) {
      expect_array(*files, name, {info->sizes[0], width});
      const WeightRows types(files, share, name, info->sizes[0], width);
      Tensor first(Shape{{"token_type", 1}, {"W", width}}, DType::f32);
      types.copy_row(0, first.values<float>());
      token_type_ = std::make_shared<const Tensor>(std::move(first));
    }
  }
  if (!names.embedding_norm.empty()) norm_ = read_norm(config, *files, named(names.embedding_norm), width);
  if (width == config.embed_dim) return;
  if (!names.first_projection.empty()) {
    first_projection_ =
        read_linear(*files, named(names.first_projection), config.embed_dim, width, false, Biases::none);
  } else {
    projection_ =
        read_linear(*files, named(names.embedding_projection), config.embed_dim, width, false, Biases::all);
  }
}

Rows TokenEmbeddings::rows(std::span<const TokenId> ids) const {
  const auto L = static_cast<Index>(ids.size());
  Rows x(L, config_.word_width), positions(positions_ ? L : 0, positions_ ? positions_->width() : 0);
  const auto row_of = [](Rows& rows, Index row) {
    return std::span<float>(rows.data() + row * rows.cols(), static_cast<std::size_t>(rows.cols()));
  };
  Index position = config_.first_position;
  for (Index i = 0; i < L; ++i) {
    const TokenId id = ids[static_cast<std::size_t>(i)];
    words_->copy_row(id, row_of(x, i));
    if (!positions_) continue;
    const bool is_padding = config_.padding_id && id == *config_.padding_id;
    positions_->copy_row(is_padding ? *config_.padding_id : position++, row_of(positions, i));
  }
  if (config_.embedding_factor != 1.0) x *= static_cast<float>(config_.embedding_factor);
  if (first_projection_) x = apply_linear(*first_projection_, x);
  if (positions_) x += positions;
  if (config_.positions == PositionKind::sinusoidal) add_sinusoids(x);
  if (token_type_) x.rowwise() += matrix<float>(*token_type_).row(0);
  if (norm_) x = normalised(*norm_, x);
  return projection_ ? apply_linear(*projection_, x) : x;
}

namespace {

// Rows of a decoder that is not kept, read at a time: 64 MiB at width 4096.
constexpr Index words_at_once = 4096;

}  // namespace

std::unique_ptr<const LmHead> LmHead::open(const TransformerConfig& config,
                                           const std::shared_ptr<const ModelFiles>& files,
                                           const std::shared_ptr<WeightShare>& share,
                                           const std::shared_ptr<const WeightRows>& words) {
  const Index E = config.embed_dim, W = config.word_width, V = config.vocabulary;
  const auto found = [&](std::string_view name) { return find_under_root(*files, config.root, name); };
  const auto no_head = [&](const std::string& missing) {
    refuse_input(files->path(),
                 config.patches ? "the model has no classifier" : "the model has no word prediction head", "",
                 missing, "a model of the same family published with that head");
  };
  const std::span<const LmHeadNames> heads = config.names->heads;
  if (heads.empty())
    refuse_input(files->path(), "it is an encoder, whose last hidden states go to a decoder", "", "",
                 "a text's tokens, its layers and all of their heads are still there to look at");
  auto head = std::ranges::find_if(heads, [&](const LmHeadNames& names) {
    return !(names.dense.empty() ? found(names.decoder) : found(std::string(names.dense) + "weight")).empty();
  });
  if (head == heads.end()) head = std::ranges::find(heads, "", &LmHeadNames::dense);
  if (head == heads.end()) {
    std::string any;
    for (const LmHeadNames& names : heads)
      any += fmt::format("{}{}weight", any.empty() ? "" : " or ", names.dense);
    no_head(any);
  }
  const std::string own = found(head->decoder);
  const bool tied = words && config.tie_word_embeddings.value_or(own.empty() && config.names->ties_words);
  if (!tied && own.empty()) no_head(std::string(head->decoder));
  auto made = std::make_unique<LmHead>();
  made->activation_ = config.head_activations.at(static_cast<std::size_t>(head - heads.begin()));
  made->factor_ = config.logits_factor;
  made->cap_ = config.logits_cap;
  std::string bias = found(head->bias);
  if (!head->dense.empty()) {
    // The norm and the bias are in the same module as the dense layer.
    const std::string dense = found(std::string(head->dense) + "weight");
    const std::string root = dense.substr(0, dense.rfind(head->dense));
    const Biases biases = config.names->has_bias ? Biases::all : Biases::as_in_file;
    made->dense_ = read_linear(*files, root + std::string(head->dense), W, E, false, biases);
    made->norm_ = read_norm(config, *files, root + std::string(head->norm), W);
    if (bias.empty() && config.names->has_bias) bias = root + std::string(head->bias);
  } else if (W != E) {
    made->dense_ = read_linear(*files, config.root + std::string(config.names->last_projection), W, E, false,
                               Biases::none);
  }
  // A separate decoder may have its own bias, in addition to the one that is then tied to nothing.
  const std::string decoder_bias =
      tied ? "" : own.substr(0, own.size() - std::string_view("weight").size()) + "bias";
  if (!tied && files->find(decoder_bias)) bias = decoder_bias;
  made->decoder_ = tied ? words : std::make_shared<const WeightRows>(files, share, own, V, W);
  if (!bias.empty()) made->bias_ = read_f32(*files, bias, {V});
  if (head->second_decoder.empty()) return made;
  const std::string second = std::string(head->second_decoder);
  const std::string second_root = own.substr(0, own.size() - head->decoder.size());
  made->second_decoder_ =
      std::make_shared<const WeightRows>(files, share, second_root + second + "weight", V, W);
  made->second_bias_ = read_f32(*files, second_root + second + "bias", {V});
  return made;
}

Rows LmHead::logits(const Rows& last_hidden) const {
  Rows x = last_hidden;
  if (dense_) {
    x = apply_linear(*dense_, x);
    if (norm_) {
      activate(activation_, x);
      x = normalised(*norm_, x);
    }
  }
  Rows logits =
      second_decoder_
          ? Rows((decoded(x.row(0), *decoder_, bias_) + decoded(x.row(1), *second_decoder_, second_bias_)) /
                 2.0f)
          : decoded(x, *decoder_, bias_);
  logits *= static_cast<float>(factor_);
  if (cap_ > 0.0) logits = (logits.array() / static_cast<float>(cap_)).tanh() * static_cast<float>(cap_);
  return logits;
}

Rows LmHead::decoded(const Rows& x, const WeightRows& decoder, const TensorPtr& bias) const {
  const Index V = decoder.rows();
  Rows logits(x.rows(), V);
  for (Index first = 0; first < V; first += words_at_once) {
    const Index count = std::min(words_at_once, V - first);
    const WeightRows::Part part = decoder.part(first, count);
    logits.middleCols(first, count) = apply_linear({.weight = part.weight,
                                                    .bias = bias,
                                                    .first_row = first - part.first_row,
                                                    .first_bias = first,
                                                    .out = count,
                                                    .in = decoder.width()},
                                                   x);
  }
  return logits;
}

namespace {

// The divisor of the memory free when the model is opened that gives the share for its weights.
constexpr Index kept_share = 4;

TensorPtr as_tensor(const Rows& x, const char* width = "E") {
  Tensor tensor = Tensor::unwritten(Shape{{"N", 1}, {"L", x.rows()}, {width, x.cols()}}, DType::f32);
  matrix<float>(tensor) = x;
  return std::make_shared<const Tensor>(std::move(tensor));
}

// (1,L,E) in f32 or f64.
Rows as_rows(const Tensor& tensor, Index width, const char* what) {
  const Shape& shape = tensor.shape();
  if (shape.rank() != 3 || shape.size(0) != 1 || shape.size(2) != width)
    refuse_input(what, "it does not fit the model", shape.sizes_text(), fmt::format("(1,L,{})", width));
  if (tensor.dtype() == DType::f64) return matrix<double>(tensor).cast<float>();
  return matrix<float>(tensor);
}

std::string attention_name(const TransformerConfig& config, Index block) {
  return fmt::format("{}{}{}{}", config.root, config.names->blocks, block, config.names->attention_in_block);
}

// How many blocks are complete, counted from the first, at most as many as config.json gives; `missing` says
// what the next one lacks, if config.json or the file has more. Throws Error(input) if there is none.
Index whole_blocks(const TransformerConfig& config, const ModelFiles& files,
                   const std::vector<AttentionLayer>& layers, std::string& missing) {
  Index whole = 0;
  for (const AttentionLayer& layer : layers) {
    if (whole == config.num_layers) return whole;
    const std::string name = attention_name(config, whole);
    try {
      if (layer.name != name) refuse_input(files.path() + ": " + name, "this block is missing");
      check_block(config, files, layer);
    } catch (const Error& error) {
      if (whole == 0 || error.status() != ExitStatus::input) throw;
      missing = error.what();
      return whole;
    }
    ++whole;
  }
  if (whole < config.num_layers) {
    missing = fmt::format("{}: {} is missing, but config.json gives {}", files.path(),
                          attention_name(config, whole), config.num_layers);
  }
  return whole;
}

}  // namespace

std::shared_ptr<const Transformer> Transformer::open(std::shared_ptr<const ModelFiles> files,
                                                     const AttentionLayers& layers,
                                                     std::optional<Index> kept_bytes) {
  AttentionLayers own = layers_of_text(layers);
  TransformerConfig config = read_transformer_config(*files, own);
  std::string missing;
  config.num_layers = whole_blocks(config, *files, own.layers, missing);
  auto share = std::make_shared<WeightShare>(kept_bytes.value_or(available_memory() / kept_share));
  std::shared_ptr<Transformer> made(
      new Transformer(std::move(config), std::move(files), std::move(own.layers), std::move(share), missing));
  const auto first = std::ranges::find(layers.layers, made->layers_.front().name, &AttentionLayer::name);
  made->first_layer_ = first - layers.layers.begin();
  return made;
}

Transformer::Transformer(TransformerConfig config, std::shared_ptr<const ModelFiles> files,
                         std::vector<AttentionLayer> layers, std::shared_ptr<WeightShare> share,
                         const std::string& missing)
    : config_(std::move(config)),
      files_(std::move(files)),
      layers_(std::move(layers)),
      share_(std::move(share)),
      no_words_(missing),
      blocks_(layers_.size()) {
  if (config_.patches)
    patches_.emplace(config_, *files_);
  else
    embeddings_.emplace(config_, files_, share_);
  if (!missing.empty()) return;
  try {
    if (config_.has_final_norm)
      final_norm_ = read_norm(config_, *files_, config_.root + std::string(config_.names->final_norm),
                              config_.embed_dim);
    head_ = LmHead::open(config_, files_, share_, embeddings_ ? embeddings_->words() : nullptr);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input) throw;
    no_words_ = error.what();
  }
}

std::shared_ptr<const TransformerBlock> Transformer::block(Index layer) const {
  check_cancelled();
  if (layer < 0 || layer >= config_.num_layers) {
    throw Error(ExitStatus::usage, {files_->path(), "the model has no such layer", fmt::format("{}", layer),
                                    fmt::format("0 to {}", config_.num_layers - 1), ""});
  }
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const TransformerBlock>& kept = blocks_[static_cast<std::size_t>(layer)];
  if (kept) return kept;
  auto read = std::make_shared<const TransformerBlock>(
      read_block(config_, *files_, layers_[static_cast<std::size_t>(layer)]));
  if (share_->take(read->bytes)) kept = read;
  return read;
}

void Transformer::check_ids(std::span<const TokenId> ids) const {
  if (!embeddings_) refuse_input(files_->path(), "this model reads pictures", "a text", "pixel values");
  if (static_cast<Index>(ids.size()) > config_.max_positions) {
    refuse_input(files_->path(), "the text is longer than the model's positions",
                 fmt::format("{} tokens", ids.size()), fmt::format("at most {}", config_.max_positions),
                 "a shorter text");
  }
  const auto outside =
      std::ranges::find_if(ids, [&](TokenId id) { return id < 0 || id >= config_.vocabulary; });
  if (outside == ids.end()) return;
  refuse_input(files_->path(), "the tokenizer gives an id without an embedding in the model",
               fmt::format("{}", *outside), fmt::format("0 to {}", config_.vocabulary - 1),
               "the tokenizer that belongs to this model");
}

void Transformer::require_memory_for(Index length, Index layers, bool weights) const {
  const std::string what = "the text in the model";
  // Hidden states and inputs of the layers, and what a block needs at a time.
  const Index widths = 2 * (layers + 1) * config_.embed_dim + 3 * config_.feed_forward_dim +
                       3 * config_.num_heads * (config_.head_dim + config_.v_head_dim);
  Index numbers = checked_multiply(length, widths, what);
  if (weights)
    numbers += checked_multiply(checked_multiply(length, length, what), layers * config_.num_heads, what);
  require_memory(checked_multiply(numbers, sizeof(float), what), what);
}

TensorPtr Transformer::finished(const Rows& x) const {
  return as_tensor(final_norm_ ? normalised(*final_norm_, x) : x);
}

Transformer::Pass Transformer::run(std::span<const TokenId> ids, const RunOptions& options) const {
  check_ids(ids);
  require_memory_for(static_cast<Index>(ids.size()), layers_to_run(options), options.keep_weights);
  Pass pass = run_rows(embeddings_->rows(ids), options);
  pass.ids.assign(ids.begin(), ids.end());
  return pass;
}

Transformer::Pass Transformer::run(const Tensor& pixel_values, const RunOptions& options) const {
  if (!patches_) refuse_input(files_->path(), "this model reads texts", "pixel values", "the ids of tokens");
  require_memory_for(config_.patches->tokens(), layers_to_run(options), options.keep_weights);
  return run_rows(patches_->rows(pixel_values), options);
}

Index Transformer::layers_to_run(const RunOptions& options) const {
  return options.layers < 0 ? config_.num_layers : std::min(options.layers, config_.num_layers);
}

Transformer::Pass Transformer::run_rows(Rows x, const RunOptions& options) const {
  const Index layers = layers_to_run(options), L = x.rows();
  Pass pass;
  pass.hidden_states.push_back(as_tensor(x));
  for (Index layer = 0; layer < layers; ++layer) {
    const ProgressPart part = slice_of_work(layer, layers);
    const auto at = static_cast<std::size_t>(layer);
    const std::shared_ptr<const TransformerBlock> block = this->block(layer);
    const Rows input = attention_input(config_, *block, x);
    pass.layer_inputs.push_back(config_.norm_place == NormPlace::before ? as_tensor(input)
                                                                        : pass.hidden_states.back());
    std::optional<Tensor> weights;
    if (options.keep_weights)
      weights = Tensor::unwritten(Shape{{"N", 1}, {"H", config_.num_heads}, {"L", L}, {"S", L}}, DType::f32);
    const std::vector<double> gains =
        at < options.head_gains.size() ? options.head_gains[at] : std::vector<double>{};
    const Rows attended = headwise::attention_output(config_, *block, input, gains,
                                                     weights ? weights->values<float>().data() : nullptr);
    x = after_attention(config_, *block, x, attended);
    pass.hidden_states.push_back(as_tensor(x));
    if (weights) pass.attn_weights.push_back(std::make_shared<const Tensor>(std::move(*weights)));
  }
  if (layers == config_.num_layers) pass.last_hidden = finished(x);
  return pass;
}

TensorPtr Transformer::layer_input(Index layer, const Tensor& hidden_state) const {
  const Rows x = as_rows(hidden_state, config_.embed_dim, "hidden_state");
  const bool is_there = layer >= 0 && layer < config_.num_layers;
  std::unique_lock lock(mutex_);
  if (is_there &&
      !blocks_[static_cast<std::size_t>(layer)]) {  // for a block that is not kept, only the norm is read
    lock.unlock();
    const TransformerNames& names = *config_.names;
    if (config_.norm_place != NormPlace::before || names.attention_norm.empty() ||
        (names.first_without_norm && layer == 0))
      return as_tensor(x);
    const std::string norm = in_block(config_, layers_[static_cast<std::size_t>(layer)], names.attention_norm);
    return as_tensor(normalised(read_norm(config_, *files_, norm, config_.embed_dim), x));
  }
  lock.unlock();
  return as_tensor(attention_input(config_, *block(layer), x));
}

TensorPtr Transformer::attn_weights(Index layer, const Tensor& layer_input) const {
  const Rows input = as_rows(layer_input, config_.embed_dim, "the input of a layer");
  const Index L = input.rows();
  const Index numbers =
      checked_multiply(checked_multiply(L, L, "attn_weights"), config_.num_heads, "attn_weights");
  require_memory(checked_multiply(numbers, sizeof(float), "attn_weights"), "attn_weights");
  Tensor weights = Tensor::unwritten(Shape{{"N", 1}, {"H", config_.num_heads}, {"L", L}, {"S", L}}, DType::f32);
  headwise::attention_output(config_, *block(layer), input, {}, weights.values<float>().data());
  return std::make_shared<const Tensor>(std::move(weights));
}

TensorPtr Transformer::attention_output(Index layer, const Tensor& layer_input,
                                        std::span<const double> head_gains) const {
  const Rows input = as_rows(layer_input, config_.embed_dim, "the input of a layer");
  return as_tensor(headwise::attention_output(config_, *block(layer), input, head_gains, nullptr));
}

TensorPtr Transformer::continue_from(const Tensor& hidden_state, Index layer,
                                     const Tensor& attention_output) const {
  const Rows attended = as_rows(attention_output, config_.embed_dim, "attention_output");
  Rows x = as_rows(hidden_state, config_.embed_dim, "hidden_state");
  if (attended.rows() != x.rows()) {
    refuse_input("attention_output", "it belongs to another text", fmt::format("{} tokens", attended.rows()),
                 fmt::format("{}", x.rows()));
  }
  x = after_attention(config_, *block(layer), x, attended);
  for (Index later = layer + 1; later < config_.num_layers; ++later) {
    const ProgressPart part = slice_of_work(later - layer - 1, config_.num_layers - layer - 1);
    const std::shared_ptr<const TransformerBlock> block = this->block(later);
    const Rows input = attention_input(config_, *block, x);
    x = after_attention(config_, *block, x, headwise::attention_output(config_, *block, input, {}, nullptr));
  }
  return finished(x);
}

TensorPtr Transformer::logits(const Tensor& last_hidden, Index first_row, Index rows) const {
  if (!head_)
    refuse_input(files_->path(),
                 config_.patches ? "there are no classes to predict" : "there are no words to predict",
                 no_words_);
  const Index V = config_.vocabulary;
  require_memory(checked_multiply(checked_multiply(rows, V, "the logits"), 2 * sizeof(float), "the logits"),
                 "the logits");
  const Rows x = as_rows(last_hidden, config_.embed_dim, "last_hidden");
  // A picture's classes are read from all its first tokens at once, those of ViT from [CLS].
  const Rows made =
      head_->logits(x.middleRows(first_row, config_.patches ? config_.patches->first_tokens : rows)).topRows(rows);
  Tensor tensor = Tensor::unwritten(Shape{{"L", rows}, {"V", V}}, DType::f32);
  matrix<float>(tensor) = made;
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace headwise
