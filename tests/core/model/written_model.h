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

// Arrays by name, each beginning 10,000 above the one before, in the order of their names.
inline std::vector<NamedTensor> counted_arrays(const std::map<std::string, std::vector<Index>>& sizes) {
  std::vector<NamedTensor> arrays;
  for (const auto& [name, of] : sizes)
    arrays.push_back({name, counted(of, 10000.0 * static_cast<double>(arrays.size())), "f32"});
  return arrays;
}

inline void write_model(const TemporaryFolder& folder, const std::map<std::string, std::vector<Index>>& sizes,
                        const std::string& config) {
  write_safetensors(folder.file("model.safetensors"), counted_arrays(sizes));
  if (!config.empty()) folder.with_file("config.json", config);
}

}  // namespace headwise::test
