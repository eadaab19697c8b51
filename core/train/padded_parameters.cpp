#include "core/train/padded_parameters.h"

#include <algorithm>

namespace headwise {
namespace {

MatrixPlace LayerPlaces::*member_of_layer(TrainRole role) {
  switch (role) {
    case TrainRole::norm1_weight:
      return &LayerPlaces::norm1_weight;
    case TrainRole::norm1_bias:
      return &LayerPlaces::norm1_bias;
    case TrainRole::in_weight:
      return &LayerPlaces::in_weight;
    case TrainRole::in_bias:
      return &LayerPlaces::in_bias;
    case TrainRole::out_weight:
      return &LayerPlaces::out_weight;
    case TrainRole::out_bias:
      return &LayerPlaces::out_bias;
    case TrainRole::norm2_weight:
      return &LayerPlaces::norm2_weight;
    case TrainRole::norm2_bias:
      return &LayerPlaces::norm2_bias;
    case TrainRole::linear1_weight:
      return &LayerPlaces::linear1_weight;
    case TrainRole::linear1_bias:
      return &LayerPlaces::linear1_bias;
    case TrainRole::linear2_weight:
      return &LayerPlaces::linear2_weight;
    case TrainRole::linear2_bias:
      return &LayerPlaces::linear2_bias;
    default:
      return nullptr;
  }
}

MatrixPlace& place_in(ModelPlaces& places, const TrainParameter& parameter) {
  switch (parameter.role) {
    case TrainRole::embedding:
      return places.embedding;
    case TrainRole::positions:
      return places.positions;
    case TrainRole::norm_weight:
      return places.norm_weight;
    case TrainRole::norm_bias:
      return places.norm_bias;
    case TrainRole::unembedding:
      return places.unembedding;
    default:
      return places.layers[parameter.layer].*member_of_layer(parameter.role);
  }
}

bool is_multiplied(const TrainParameter& parameter, const TrainModelConfig& config) {
  switch (parameter.role) {
    case TrainRole::in_weight:
    case TrainRole::out_weight:
    case TrainRole::linear1_weight:
    case TrainRole::linear2_weight:
    case TrainRole::unembedding:
      return true;
    case TrainRole::embedding:
      return config.tied;
    default:
      return false;
  }
}

}  // namespace

PaddedLayout padded_layout(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters) {
  PaddedLayout layout;
  for (const TrainParameter& parameter : parameters) {
    MatrixPlace place;
    place.rows = parameter.rows();
    place.columns = parameter.columns();
    place.at = layout.size;
    place.step = padded(place.columns);
    layout.size += place.rows * place.step;
    if (is_multiplied(parameter, config)) {
      place.turned_at = layout.turned_size;
      place.turned_step = padded(place.rows);
      layout.turned_size += place.columns * place.turned_step;
    }
    layout.of_parameter.push_back(place);
    place_in(layout.places, parameter) = place;
  }
  if (config.tied) layout.places.unembedding = layout.places.embedding;
  return layout;
}

template <class T>
void spread_parameter(const MatrixPlace& place, const T* values, T* padded, T* turned) {
  for (Index row = 0; row < place.rows; ++row)
    std::copy_n(values + row * place.columns, place.columns, padded + place.at + row * place.step);
  if (place.turned_step == 0) return;
  for (Index column = 0; column < place.columns; ++column) {
    T* const to = turned + place.turned_at + column * place.turned_step;
    for (Index row = 0; row < place.rows; ++row) to[row] = values[row * place.columns + column];
  }
}

template <class T>
void gather_rows(const MatrixPlace& place, const std::vector<T*>& padded, Index first, Index last, T* values) {
  for (Index row = first; row < last; ++row) {
    T* const to = values + row * place.columns;
    const Index from = place.at + row * place.step;
    std::copy_n(padded[0] + from, place.columns, to);
    for (std::size_t i = 1; i < padded.size(); ++i) {
      const T* const more = padded[i] + from;
      for (Index column = 0; column < place.columns; ++column) to[column] += more[column];
    }
  }
}

template void spread_parameter(const MatrixPlace&, const float*, float*, float*);
template void spread_parameter(const MatrixPlace&, const double*, double*, double*);
template void gather_rows(const MatrixPlace&, const std::vector<float*>&, Index, Index, float*);
template void gather_rows(const MatrixPlace&, const std::vector<double*>&, Index, Index, double*);

}  // namespace headwise
