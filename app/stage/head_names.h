// Names for the heads under their thumbnails, measured on the attention weights in sight:
// "previous token 0.64".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/panels/panel.h"

namespace headwise {

struct HeadName {
  std::string full, brief;  // "previous token 0.64", "previous 0.64"; empty where nothing stands out
  std::string reason;       // for a tooltip: what was measured, and the value of uniform attention
};

// The names of all heads in the selection's sequence, cached as long as the weights live. Empty unless every
// query has a key at its own place (self-attention without appended keys) and the text is short enough to be
// measured in a frame; empty also while a page asks for a head.
class HeadNames {
 public:
  const std::vector<HeadName>& of(const PanelContext& context);

 private:
  std::weak_ptr<const Tensor> weights_;
  Index batch_ = -1;
  std::vector<HeadName> names_;
};

// Widths in pixels of the widest full and the widest brief name; empty without names,
// or while a page hides the weights.
std::vector<double> head_name_widths(const PanelContext& context, const std::vector<HeadName>& names);

}  // namespace headwise
