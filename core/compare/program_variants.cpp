#include "core/compare/program_variants.h"

#include <fmt/format.h>

#include "core/tensor/error.h"

namespace headwise {

const Tensor& required(const Trace& so_far, TensorId id) {
  const TensorPtr& tensor = so_far.tensors.*(tensor_entry(id).member);
  if (!tensor)
    throw Error(ExitStatus::input,
                {std::string(tensor_entry(id).name), "the trace does not have this tensor", "", "", ""});
  return *tensor;
}

ProgramVariant joined(const ProgramVariant& first, const ProgramVariant& then) {
  ProgramVariant both = first;
  both.text =
      fmt::format("{}{}{}, and {}", first.text, first.detail.empty() ? "" : ", and ", first.detail, then.text);
  both.detail = then.detail;
  both.remedy = first.remedy.empty() || then.remedy.empty() ? "" : first.remedy + " " + then.remedy;
  if (then.change) {
    both.change = [before = first.change, after = then.change](AttentionInputs& inputs) {
      if (before) before(inputs);
      after(inputs);
    };
  }
  both.stages.insert(both.stages.end(), then.stages.begin(), then.stages.end());
  if (then.copies.keys != HeadCopy::neighbours) both.copies.keys = then.copies.keys;
  if (then.copies.values != HeadCopy::neighbours) both.copies.values = then.copies.values;
  return both;
}

std::vector<ProgramVariant> program_variants(const AttentionInputs& inputs) {
  ProgramVariants variants;
  add_input_variants(inputs, variants);
  add_mask_variants(inputs, variants);
  add_mask_value_variants(inputs, variants);
  add_position_mask_variants(inputs, variants);
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
