#include "core/compare/program_variants.h"

#include <fmt/format.h>

#include <utility>

#include "core/tensor/error.h"

namespace headwise {

const Tensor& required(const Trace& so_far, TensorId id) {
  const TensorPtr& tensor = so_far.tensors.*(tensor_entry(id).member);
  if (!tensor)
    throw Error(ExitStatus::input,
                {std::string(tensor_entry(id).name), "the trace does not have this tensor", "", "", ""});
  return *tensor;
}

Change followed_by(Change first, Change then) {
  if (!first || !then) return first ? first : then;
  return [first = std::move(first), then = std::move(then)](AttentionInputs& inputs) {
    first(inputs);
    then(inputs);
  };
}

ProgramVariant::ProgramVariant(std::string what, std::vector<StageChange> changed, HeadCopies heads,
                               std::string more)
    : text(std::move(what)), stages(std::move(changed)), copies(heads), detail(std::move(more)) {}

ProgramVariant::ProgramVariant(std::string what, Change of_inputs, std::vector<StageChange> changed,
                               std::string more)
    : ProgramVariant(std::move(what), std::move(changed), {}, std::move(more)) {
  change = std::move(of_inputs);
}

ProgramVariant::ProgramVariant(std::string what, std::string setting, Change of_inputs,
                               std::vector<StageChange> changed)
    : ProgramVariant(std::move(what), std::move(of_inputs), std::move(changed)) {
  remedy = std::move(setting);
}

ProgramVariant joined(const ProgramVariant& first, const ProgramVariant& then) {
  ProgramVariant both = first;
  both.text =
      fmt::format("{}{}{}, and {}", first.text, first.detail.empty() ? "" : ", and ", first.detail, then.text);
  both.detail = then.detail;
  both.remedy = first.remedy.empty() || then.remedy.empty() ? "" : first.remedy + " " + then.remedy;
  both.change = followed_by(first.change, then.change);
  both.stages.insert(both.stages.end(), then.stages.begin(), then.stages.end());
  if (then.copies.keys != HeadCopy::neighbours) both.copies.keys = then.copies.keys;
  if (then.copies.values != HeadCopy::neighbours) both.copies.values = then.copies.values;
  return both;
}

FittedVariant::FittedVariant(const std::vector<double>& starts_of_one,
                             const std::function<ProgramVariant(double)>& with_one)
    : FittedVariant(starts_of_one, 1,
                    [with_one](const std::vector<double>& numbers) { return with_one(numbers.front()); }) {}

FittedVariant::FittedVariant(const std::vector<double>& starts_of_all, std::size_t heads,
                             std::function<ProgramVariant(const std::vector<double>&)> with_each)
    : with(std::move(with_each)) {
  for (const double start : starts_of_all) starts.emplace_back(heads, start);
}

FittedVariant joined(const FittedVariant& first, const FittedVariant& then) {
  FittedVariant both = first;
  both.with = [one = first.with, other = then.with,
               split = static_cast<std::ptrdiff_t>(first.numbers())](const std::vector<double>& numbers) {
    return joined(one({numbers.begin(), numbers.begin() + split}),
                  other({numbers.begin() + split, numbers.end()}));
  };
  both.starts.clear();
  for (const std::vector<double>& start : first.starts)
    for (const std::vector<double>& more : then.starts) {
      both.starts.push_back(start);
      both.starts.back().insert(both.starts.back().end(), more.begin(), more.end());
    }
  return both;
}

std::vector<ProgramVariant> program_variants(const AttentionInputs& inputs,
                                             const std::optional<StretchedRope>& stretched) {
  ProgramVariants variants;
  add_input_variants(inputs, stretched, variants);
  add_latent_variants(inputs, variants);
  add_mask_variants(inputs, variants);
  add_mask_value_variants(inputs, variants);
  add_position_mask_variants(inputs, variants);
  add_past_variants(inputs, variants);
  add_indexer_variants(inputs, variants);
  add_rotary_scaling_variants(inputs, stretched, variants);
  add_rotary_variants(inputs, stretched, variants);
  add_parameter_variants(inputs, variants);
  add_head_variants(inputs, variants);
  add_score_variants(inputs, variants);
  add_softmax_variants(inputs, variants);
  add_output_variants(inputs, variants);
  add_rounding_variants(inputs, variants);
  return variants;
}

}  // namespace headwise
