// The first hidden states of a model of pictures (Dosovitskiy et al. 2020, ViT; Touvron et al. 2020, DeiT):
// learned tokens, then one token for each patch, row by row from the top left, with learned positions.
#pragma once

#include <memory>

#include "core/model/transformer/transformer_weights.h"

namespace headwise {

class PatchEmbeddings {
 public:
  // Throws Error(input) for arrays that are missing or have the wrong shape. Of a config with patches.
  PatchEmbeddings(const TransformerConfig& config, const ModelFiles& files);

  // pixel_values (C,H,W) in f32 → (L,E): each patch is a row of C·ph·pw numbers times the projection. Throws
  // Error(input) for pixel values of another size.
  Rows rows(const Tensor& pixel_values) const;

 private:
  PatchGrid grid_;
  std::string where_;
  TransformerLinear projection_;  // (E,C·ph·pw)
  std::vector<TensorPtr> first_;  // of (1,1,E): [CLS], and DeiT's distillation token
  TensorPtr positions_;           // (1,L,E)
};

}  // namespace headwise
