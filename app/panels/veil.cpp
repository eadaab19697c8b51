#include "app/panels/veil.h"

#include <algorithm>

namespace headwise {
namespace {

// Known before anything is computed: what is given, and what the masks add up to. The weights of frozen heads
// are results of another run.
bool is_known(TensorId id) {
  if (id == TensorId::frozen_weights) return false;
  return id == TensorId::mask_bias || tensor_entry(id).role != TensorRole::intermediate;
}

}  // namespace

bool Veil::hides(TensorName name) const {
  if (mask && name.id == TensorId::mask_bias) return true;
  return name.gradient || (step_of(name.id) >= from && !is_known(name.id));
}

std::optional<Veil> veil_of_question(const PlaylistPage& page) {
  if (page.ask.empty() || !page.veil) return {};
  const bool mask = page.answer && page.answer->is_mask();
  // The masked scores, which a later step is made from, show the mask.
  return Veil{mask ? std::min(page.step, Step::mask) : page.step, mask};
}

}  // namespace headwise
