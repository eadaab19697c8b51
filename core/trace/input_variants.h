// The ways in which implementations of attention are known to stray from one another, each as a change of the
// inputs after which our own computation strays likewise: no scale, a mask whose sense is turned round,
// key/value heads tiled, a matrix transposed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

struct InputVariant {
  std::string text;  // what theirs does: "the scores are not scaled"
  std::string
      remedy;  // the same in Headwise, "--set attention.scale=1"; empty where it is a mistake anywhere
  std::function<void(AttentionInputs&)> change;
  // q and k of ours come out with each head's columns in another order than theirs, and their products do not.
  bool reorders_columns = false;
};

// Those that these inputs allow and that change them; they are valid inputs again, of the same lengths.
std::vector<InputVariant> input_variants(const AttentionInputs& inputs);

}  // namespace headwise
