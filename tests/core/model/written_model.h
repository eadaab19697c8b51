// Models in files of their own: arrays with numbers that tell where they stand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "tests/core/files/temporary_folder.h"

namespace headwise::test {

// Number i is first + i.
inline TensorPtr counted(const std::vector<Index>& sizes, double first) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) axes.push_back({"axis" + std::to_string(i), sizes[i]});
  Tensor tensor(Shape(axes), DType::f32);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, first + static_cast<double>(i));
  return std::make_shared<const Tensor>(std::move(tensor));
}

using Sizes = std::map<std::string, std::vector<Index>>;  // by the arrays' names

// The attention of one layer under DistilBERT's names, E = 12.
inline void add_layer(Sizes& sizes, const std::string& name) {
  for (const char* stem : {"q_lin", "k_lin", "v_lin", "out_lin"})
    sizes[name + ".attention." + stem + ".weight"] = {12, 12};
}

// Arrays by name, each beginning 10,000 above the one before, in the order of their names.
inline std::vector<NamedTensor> counted_arrays(const Sizes& sizes) {
  std::vector<NamedTensor> arrays;
  for (const auto& [name, of] : sizes)
    arrays.push_back({name, counted(of, 10000.0 * static_cast<double>(arrays.size())), "f32"});
  return arrays;
}

inline void write_model(const TemporaryFolder& folder, const Sizes& sizes, const std::string& config) {
  write_safetensors(folder.file("model.safetensors"), counted_arrays(sizes));
  if (!config.empty()) folder.with_file("config.json", config);
}

}  // namespace headwise::test
