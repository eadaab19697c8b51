// From the last hidden states to a number (logit) for each word of the vocabulary.
#pragma once

#include "core/model/transformer/transformer_block.h"
#include "core/model/transformer/transformer_weights.h"

namespace headwise {

class LmHead {
 public:
  // `words` (V,W) is the decoder where the model ties it to the embeddings: as tie_word_embeddings of config.json says, else an
  // own decoder where the file has one, else as the family does. Throws Error(input): the model has no head (a base model), an
  // array of it is missing or has another shape.
  static std::unique_ptr<const LmHead> open(const TransformerConfig& config,
                                            const std::shared_ptr<const ModelFiles>& files,
                                            const std::shared_ptr<WeightShare>& share,
                                            const std::shared_ptr<const WeightRows>& words);

  // (L,E) → (L,V); a dense layer or OPT's projection before the words leads to their width W.
  Rows logits(const Rows& last_hidden) const;

 private:
  Activation activation_ = Activation::gelu;
  std::optional<TransformerLinear> dense_;
  std::optional<Normalisation> norm_;  // none: `dense_` is a projection, without activation
  std::shared_ptr<const WeightRows> decoder_;
  TensorPtr bias_;  // (V); null: none
};

}  // namespace headwise
