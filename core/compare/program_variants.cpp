#include "core/compare/program_variants.h"

namespace headwise {

std::vector<ProgramVariant> program_variants(const AttentionInputs& inputs) {
  ProgramVariants variants;
  add_input_variants(inputs, variants);
  add_mask_variants(inputs, variants);
  add_mask_value_variants(inputs, variants);
  add_rotary_variants(inputs, variants);
  add_parameter_variants(inputs, variants);
  add_head_variants(inputs, variants);
  add_score_variants(inputs, variants);
  add_softmax_variants(inputs, variants);
  add_output_variants(inputs, variants);
  add_rounding_variants(inputs, variants);
  return variants;
}

}  // namespace headwise
