// The values that parameters begin with, as PyTorch's modules would draw them, but by counter-based random numbers: the same for any
// number of threads, and on every machine.
//
//   embedding, positions       N(0, 1)                          torch.nn.Embedding; if the unembedding is tied to the embedding,
//                                                               N(0, 1/E) for both, so that logits begin near ±1
//   in_proj_weight             U(±√(6/(rows + E)))              torch.nn.MultiheadAttention (Xavier)
//   out_proj.weight            U(±1/√(H·D))                     torch.nn.Linear (Kaiming with a = √5)
//   in_proj_bias, out_proj.bias  0                              torch.nn.MultiheadAttention
//   linear1, linear2           U(±1/√inputs), biases too        torch.nn.Linear
//   unembedding                U(±1/√E)                         torch.nn.Linear
//   norms                      weight 1, bias 0                 torch.nn.LayerNorm
#pragma once

#include <cstdint>
#include <span>

#include "core/train/train_model.h"

namespace headwise {

// Fills `values`, the array of all parameters. Value i of a parameter depends on the seed, the parameter's name and i alone. All are
// rounded to f32, so that a run in f64 begins with the same model.
void initialise_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                           std::uint64_t seed, std::span<float> values);
void initialise_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                           std::uint64_t seed, std::span<double> values);

}  // namespace headwise
