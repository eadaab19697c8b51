#include "app/panels/veil.h"

#include <algorithm>

namespace headwise {
namespace {

bool is_given(TensorId id) {
  using Id = TensorId;
  switch (id) {
    case Id::query:
    case Id::key:
    case Id::value:
    case Id::in_proj_weight:
    case Id::q_proj_weight:
    case Id::k_proj_weight:
    case Id::v_proj_weight:
    case Id::in_proj_bias:
    case Id::bias_k:
    case Id::bias_v:
    case Id::static_k:
    case Id::static_v:
    case Id::attn_mask:
    case Id::key_padding_mask:
    case Id::valid_lens:
    case Id::mask_bias:
    case Id::head_gain:
    case Id::out_proj_weight:
    case Id::out_proj_bias:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Veil::hides(TensorName name) const {
  if (mask && name.id == TensorId::mask_bias) return true;
  return name.gradient || (step_of(name.id) >= from && !is_given(name.id));
}

std::optional<Veil> veil_of_question(const PlaylistPage& page) {
  if (page.ask.empty() || !page.veil) return {};
  const bool mask = page.answer && page.answer->is_mask();
  // The masked scores, which a later step is made from, show the mask.
  return Veil{mask ? std::min(page.step, Step::mask) : page.step, mask};
}

}  // namespace headwise
