// Which tensors a scenario made and from what, so that the next scenario shares those that come out the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// A tensor with all that it depends on: two with the same recipe and the same sources hold the same numbers.
struct MadeTensor {
  std::string recipe;
  std::vector<TensorPtr> sources;  // compared as addresses; kept alive, so that an address is not used twice
  TensorPtr tensor;
};

using MadeTensors = std::map<std::string, MadeTensor>;  // by name; "query edited" beside "query"

// Takes a tensor from `previous` where recipe and sources are the same, else makes it; enters it in `now`
// either way.
class TensorMaker {
 public:
  TensorMaker(const MadeTensors* previous, MadeTensors& now) : previous_(previous), now_(now) {}

  TensorPtr get(const std::string& name, const std::string& recipe, const std::vector<TensorPtr>& sources,
                const std::function<Tensor()>& make) {
    MadeTensor& made = now_[name] = {recipe, sources, nullptr};
    if (previous_ != nullptr) {
      const auto earlier = previous_->find(name);
      if (earlier != previous_->end() && earlier->second.recipe == recipe &&
          earlier->second.sources == sources) {
        return made.tensor = earlier->second.tensor;
      }
    }
    return made.tensor = std::make_shared<const Tensor>(make());
  }

 private:
  const MadeTensors* previous_;
  MadeTensors& now_;
};

}  // namespace headwise
