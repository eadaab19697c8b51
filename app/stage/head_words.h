// A few words on what each head does, from its attention weights: how sharply it attends, how far away, and where most.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "core/answers/head_statistics.h"

namespace headwise {

// The statistics of all heads in one batch, cached as long as the weights live.
class HeadFigures {
 public:
  // Empty if the trace has no attn_weights.
  const std::vector<HeadStatistics>& of(const Trace& trace, Index batch);

 private:
  std::weak_ptr<const Tensor> weights_;
  Index batch_ = -1;
  std::vector<HeadStatistics> heads_;
};

// "entropy 0.32 of 2.48", "looks 1.1 back", "it → animal .93", the last only if a row has a choice. For a head without a
// row of numbers: one line that says so.
std::vector<std::string> head_words(const PanelContext& context, const HeadStatistics& head);
// The same as a sentence for a tooltip.
std::string head_sentence(const PanelContext& context, const HeadStatistics& head);

}  // namespace headwise
