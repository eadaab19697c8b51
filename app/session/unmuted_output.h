// The effect of the head gains on the output: compared with the output with every gain 1.
#pragma once

#include <optional>

#include "core/answers/tensor_change.h"
#include "core/trace/trace.h"

namespace headwise {

class UnmutedOutput {
 public:
  // The change from the output with every gain 1 to the trace's own. None if every gain is 1 already, or there is no output
  // of joined heads. While only gains change, the merge and the projection are computed once.
  std::optional<TensorChange> change(const Trace& trace);
  // How often the output with every gain 1 was computed.
  int computed() const { return computed_; }

 private:
  TensorPtr head_output_, weight_, bias_;  // that it was computed from
  TensorPtr output_;
  TensorPtr changed_to_;
  TensorChange change_;
  int computed_ = 0;
};

}  // namespace headwise
