#include "core/train/trained_cell.h"

#include <algorithm>
#include <vector>

namespace headwise {
namespace {

std::optional<TrainRole> role_of(TensorId tensor) {
  switch (tensor) {
    case TensorId::in_proj_weight:
      return TrainRole::in_weight;
    case TensorId::in_proj_bias:
      return TrainRole::in_bias;
    case TensorId::out_proj_weight:
      return TrainRole::out_weight;
    case TensorId::out_proj_bias:
      return TrainRole::out_bias;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<TrainedCell> trained_cell(const TrainModelConfig& config, Index layer, TensorId tensor,
                                        std::span<const Index> index) {
  const std::optional<TrainRole> role = role_of(tensor);
  if (!role) return std::nullopt;
  const std::vector<TrainParameter> parameters = train_parameters(config);
  const auto parameter = std::ranges::find_if(
      parameters, [&](const TrainParameter& each) { return each.layer == layer && each.role == *role; });
  if (parameter == parameters.end() || std::ssize(index) != parameter->shape.rank()) return std::nullopt;
  const Index row = index.size() < 2 ? 0 : index.front(), column = index.back();
  if (row < 0 || row >= parameter->rows() || column < 0 || column >= parameter->columns())
    return std::nullopt;
  return TrainedCell{static_cast<std::size_t>(parameter - parameters.begin()), row, column};
}

}  // namespace headwise
