// Two mistakes at once: whatever the one takes away, the other does not read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/compare/program_variants.h"
#include "core/compare/variant_trials.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"

using namespace headwise;

namespace {

// A preset with its options, of a size at which some hundred thousand runs are quick.
Scenario small_preset(const Preset& preset) {
  Scenario scenario = preset_scenario(preset.name);
  const bool grouped = scenario.attention.num_kv_heads.has_value();
  scenario.attention.embed_dim = 4;
  scenario.attention.num_heads = 2;
  scenario.attention.bias = true;
  if (grouped) scenario.attention.num_kv_heads = 1;
  scenario.inputs.source = InputSource::random;
  scenario.inputs.text.clear();
  scenario.inputs.key_text.reset();
  scenario.inputs.batch = 2;
  scenario.inputs.query_length = 2;
  if (!scenario.inputs.self_attention) scenario.inputs.key_length = 3;
  scenario.parameters = {};
  return scenario;
}

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  const auto add = [&](const Scenario& scenario) {
    if (std::ranges::find(all, scenario) == all.end()) all.push_back(scenario);
  };
  for (const Preset& preset : presets()) {
    const Scenario plain = small_preset(preset);
    add(plain);
    Scenario padded = plain;
    padded.mask.valid_lens = std::vector<std::vector<std::int64_t>>{{2}, {1}};
    padded.mask.is_causal = true;
    padded.mask.alibi = true;
    padded.mask.sliding_window = 2;
    padded.mask.preset = "padding:1";  // an attn_mask
    if (!plain.mask.is_causal) add(padded);
  }
  Scenario rich = all.front();
  rich.attention.rotary_base = 100.0;
  rich.attention.residual = rich.attention.layer_norm = true;
  rich.attention.softcap = 3.0;
  rich.attention.dropout = 0.25;
  rich.mask.is_causal = true;
  rich.head_gain = std::vector<double>{1.0, 2.0};
  add(rich);
  Scenario product = all.front();
  product.op = Op::scaled_dot_product_attention;
  product.mask.is_causal = product.mask.alibi = true;
  add(product);
  return all;
}

// What a variant does, without its numbers: of those that differ in a number alone, one is tried.
std::string kind_of(const ProgramVariant& variant) {
  std::string kind = variant.text + variant.detail + (variant.change ? "c" : "");
  std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0 || c == '-' || c == '.' || c == '+'; });
  for (const StageChange& change : variant.stages) kind += tensor_entry(change.stage).name;
  return kind;
}

std::vector<ProgramVariant> one_of_each_kind(const AttentionInputs& inputs) {
  std::set<std::string> seen;
  std::vector<ProgramVariant> kept;
  for (ProgramVariant& variant : program_variants(inputs))
    if (seen.insert(kind_of(variant)).second) kept.push_back(std::move(variant));
  return kept;
}

}  // namespace

// Each preset takes its share of the pairs: together they take all, and each is tried with several.
TEST_CASE("every pair of mistakes is tried, with all presets, with masks and without, and none fails") {
  const ThreadLimit one_thread(1);
  const std::size_t shares = 12;
  std::size_t turn = 0;
  for (const Scenario& scenario : scenarios()) {
    ++turn;
    const AttentionInputs inputs = make_scenario_inputs(scenario, DType::f64).attention;
    const TracePtr ours = reference_forward(inputs);
    // The last tensor of all, so that every stage is computed.
    const bool weights = ours->tensors.attn_output_weights != nullptr;
    const TensorPtr last = weights ? ours->tensors.attn_output_weights : ours->tensors.output;
    auto noise = std::make_shared<Tensor>(last->shape(), DType::f64);
    const CounterRandom random(3, "pairs");
    for (Index i = 0; i < noise->size(); ++i)
      noise->set_flat(i, random.normal(static_cast<std::uint64_t>(i)));
    const std::vector<StoredTensor> theirs{{weights ? "attn_output_weights" : "output", noise, "f64"}};
    const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
    const VariantSearch search{inputs, *ours, nullptr, theirs, {}};
    const VariantTrials trials(search, comparison);
    const std::vector<ProgramVariant> unchanged = one_of_each_kind(trials.inputs());
    CHECK(unchanged.size() > 60);
    std::size_t agreeing = 0;
    for (std::size_t i = 0; i < unchanged.size(); ++i) {
      const ProgramVariant& first = unchanged[i];
      CAPTURE(first.text);
      std::vector<ProgramVariant> then = unchanged;
      if (first.change) {
        AttentionInputs changed = trials.inputs();
        first.change(changed);
        then = one_of_each_kind(changed);
      }
      for (std::size_t j = (i + turn) % shares; j < then.size(); j += shares) {
        const ProgramVariant& second = then[j];
        INFO(second.text);
        agreeing += trials.tried(joined(first, second)).all;
      }
    }
    CHECK(agreeing == 0);
  }
}
