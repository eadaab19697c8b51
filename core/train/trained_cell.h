// Where a number that the attention of one layer is computed from stands among the parameters of a training.
#pragma once

#include <optional>
#include <span>

#include "core/trace/tensor_names.h"
#include "core/train/train_model.h"

namespace headwise {

// A cell of train_parameters(config)[parameter]; the row is 0 in a vector.
struct TrainedCell {
  std::size_t parameter = 0;
  Index row = 0, column = 0;
  friend bool operator==(const TrainedCell&, const TrainedCell&) = default;
};

// `index`: of a cell of `tensor` in the trace of layer `layer`, whose parameters are the training's: the trace has them under PyTorch's
// names, in PyTorch's order, as the training does. nullopt for a tensor that is no parameter of the training (without W_O,
// out_proj.weight is an identity that is never trained), and for a cell outside of the parameter.
std::optional<TrainedCell> trained_cell(const TrainModelConfig& config, Index layer, TensorId tensor,
                                        std::span<const Index> index);

}  // namespace headwise
