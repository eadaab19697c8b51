// Which tensors a scenario generated and from what,
// so that the next scenario can share those that have not changed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// A tensor with everything it depends on: two with the same recipe and the same sources hold the same
// numbers.
struct MadeTensor {
  std::string recipe;
  std::vector<TensorPtr> sources;  // compared as addresses; kept alive, so that an address is not reused
  TensorPtr tensor;
  std::vector<std::string> notes;  // notes from when it was generated, valid as long as it is used
};

using MadeTensors = std::map<std::string, MadeTensor>;  // by name; "query edited" is separate from "query"

// Reuses a tensor of `previous` if recipe and sources are the same, else generates it; records it in `now`
// either way.
class TensorMaker {
 public:
  TensorMaker(const MadeTensors* previous, MadeTensors& now) : previous_(previous), now_(now) {}

  TensorPtr get(const std::string& name, const std::string& recipe, const std::vector<TensorPtr>& sources,
                const std::function<Tensor()>& make) {
    MadeTensor& made = now_[name] = {recipe, sources, nullptr, {}};
    if (previous_ != nullptr) {
      const auto earlier = previous_->find(name);
      if (earlier != previous_->end() && earlier->second.recipe == recipe &&
          earlier->second.sources == sources) {
        made = earlier->second;
        return made.tensor;
      }
    }
    return made.tensor = std::make_shared<const Tensor>(make());
  }

  // Adds to the notes of the tensor last requested under this name; returns all of them.
  const std::vector<std::string>& notes(const std::string& name, const std::vector<std::string>& fresh) {
    std::vector<std::string>& all = now_[name].notes;
    all.insert(all.end(), fresh.begin(), fresh.end());
    return all;
  }

 private:
  const MadeTensors* previous_;
  MadeTensors& now_;
};

}  // namespace headwise
