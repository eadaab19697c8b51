// From the last hidden states to a logit per token of the vocabulary.
#pragma once

#include "core/model/transformer/transformer_block.h"
#include "core/model/transformer/transformer_weights.h"

namespace headwise {

class LmHead {
 public:
  // `words` (V,W) is the decoder if the model ties it to the embeddings: as given by tie_word_embeddings in config.json, else
  // its own decoder if the file has one, else the default of the family. Throws Error(input) if the model has no head (a base
  // model), or an array of it is missing or has the wrong shape.
  static std::unique_ptr<const LmHead> open(const TransformerConfig& config,
                                            const std::shared_ptr<const ModelFiles>& files,
                                            const std::shared_ptr<WeightShare>& share,
                                            const std::shared_ptr<const WeightRows>& words);

  // (L,E) → (L,V); a dense layer or OPT's projection before the decoder maps to its width W.
  Rows logits(const Rows& last_hidden) const;

 private:
  Activation activation_ = Activation::gelu;
  std::optional<TransformerLinear> dense_;
  std::optional<Normalisation> norm_;  // nullopt: `dense_` is a projection, without activation
  std::shared_ptr<const WeightRows> decoder_;
  TensorPtr bias_;  // (V); null: none
};

}  // namespace headwise
