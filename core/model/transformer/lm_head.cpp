#include "core/model/transformer/lm_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"

namespace headwise {
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
    throw Error(ExitStatus::input, {files->path(), "the model has no word prediction head", "", missing,
                                    "a model of the same family published with that head"});
  };
  const std::span<const LmHeadNames> heads = config.names->heads;
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
  const bool tied = config.tie_word_embeddings.value_or(own.empty() && config.names->ties_words);
  if (!tied && own.empty()) no_head(std::string(head->decoder));
  auto made = std::make_unique<LmHead>();
  made->activation_ = head->is_gelu ? Activation::gelu : config.activation;
  std::string bias = found(head->bias);
  if (!head->dense.empty()) {
    // The norm and the bias are in the same module as the dense layer.
    const std::string dense = found(std::string(head->dense) + "weight");
    const std::string root = dense.substr(0, dense.rfind(head->dense));
    made->dense_ = read_linear(*files, root + std::string(head->dense), W, E, false, Biases::all);
    made->norm_ = read_norm(config, *files, root + std::string(head->norm), W);
    if (bias.empty()) bias = root + std::string(head->bias);
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
  const Index V = decoder_->rows();
  Rows logits(x.rows(), V);
  for (Index first = 0; first < V; first += words_at_once) {
    const Index count = std::min(words_at_once, V - first);
    const WeightRows::Part part = decoder_->part(first, count);
    logits.middleCols(first, count) = apply_linear({.weight = part.weight,
                                                    .bias = bias_,
                                                    .first_row = first - part.first_row,
                                                    .first_bias = first,
                                                    .out = count,
                                                    .in = decoder_->width()},
                                                   x);
  }
  return logits;
}

}  // namespace headwise
