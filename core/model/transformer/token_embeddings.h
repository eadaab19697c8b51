// The input of the first block: the embedding of each token, of its position, of its part of the text.
#pragma once

#include <span>

#include "core/model/tokenizer/tokenizer_vocabulary.h"
#include "core/model/transformer/transformer_block.h"
#include "core/model/transformer/transformer_weights.h"

namespace headwise {

class TokenEmbeddings {
 public:
  // Throws Error(input) for arrays that are missing or have the wrong shape. Reads nothing large.
  TokenEmbeddings(const TransformerConfig& config, std::shared_ptr<const ModelFiles> files,
                  const std::shared_ptr<WeightShare>& share);

  // (L,E): token + position + token type 0, then the norm if the family has one, then the projection if the
  // embeddings have a width of their own, W (config.word_width); OPT projects the tokens before it adds
  // positions. Sinusoidal positions alternate sin and cos, "Attention Is All You Need", 3.5. Ids must be in the
  // vocabulary, L at most max_positions.
  Rows rows(std::span<const TokenId> ids) const;
  // The token embeddings (V,W).
  const std::shared_ptr<const WeightRows>& words() const { return words_; }

 private:
  TransformerConfig config_;
  std::shared_ptr<const WeightRows> words_, positions_;  // positions: null if they are not learned
  TensorPtr token_type_;                                 // (1,W); null: none
  std::optional<Normalisation> norm_;
  std::optional<TransformerLinear> first_projection_, projection_;  // W → E
};

}  // namespace headwise
