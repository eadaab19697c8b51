#include "core/scenario/scenario_plan.h"

#include <fmt/format.h>
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/attention/latent_attention.h"
#include "core/attention/relative_bias.h"
#include "core/attention/score_path.h"
#include "core/attention/tensor_names.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/overridden_settings.h"
#include "core/scenario/plan_parts.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

void copy_options(AttentionOptions& o, const Scenario& scenario) {
  const AttentionSpec& a = scenario.attention;
  const MaskSpec& m = scenario.mask;
  o.op = scenario.op;
  static_cast<LayerOptions&>(o) = a;
  static_cast<PositionOptions&>(o) = m;
  o.is_causal = m.is_causal || m.preset == "causal";
  if (a.rotary_inverse_frequencies) o.rotary_inverse_frequencies = *a.rotary_inverse_frequencies;
  o.mask_value = m.value;
  // PyTorch >= 2.5: the path that returns weights adds -inf and divides 0 by 0, the fused one guards it.
  const bool guarded = scenario.op == Op::scaled_dot_product_attention || !a.need_weights;
  o.fully_masked_rows = m.fully_masked_rows.value_or(guarded ? FullyMaskedRows::zero : FullyMaskedRows::nan);
  if (scenario.head_gain) o.head_gain = *scenario.head_gain;
}

// N, L and S: arrays first, then the text, then sizes given only by masks, then what is written.
void plan_lengths(ScenarioPlan& plan, const Scenario& scenario, const GivenSizes& sizes,
                  const TextLengths& text, Contradictions& wrong) {
  const InputsSpec& i = scenario.inputs;
  const auto first = [](std::initializer_list<std::optional<Index>> choices, Index otherwise) {
    for (const std::optional<Index>& choice : choices)
      if (choice) return *choice;
    return otherwise;
  };
  const auto size = [](const std::optional<SizeFact>& fact) {
    return fact ? std::optional<Index>(fact->size) : std::nullopt;
  };
  plan.batch = first({size(sizes.batch), size(sizes.mask_batch)}, i.batch);
  plan.past = first({size(sizes.past_length)}, i.past_length);
  if (sizes.past_length || plan.past > 0) plan.options.past_length = plan.past;
  std::optional<Index> masked_keys = size(sizes.mask_key_length);  // after the past
  if (masked_keys) masked_keys = std::max<Index>(0, *masked_keys - plan.past);
  plan.query_length = first({size(sizes.query_length), text.query, size(sizes.mask_query_length),
                             plan.self_attention ? masked_keys : std::nullopt},
                            i.query_length);
  if (plan.self_attention) {
    plan.key_length = plan.query_length;
    const bool given_alone = i.key_length && !sizes.query_length && !text.query;
    wrong.check(!given_alone || *i.key_length == plan.query_length,
                fmt::format("key_length = {} and query_length = {} differ in self-attention: set "
                            "inputs.self_attention to false",
                            i.key_length.value_or(0), plan.query_length));
  } else {
    plan.key_length =
        first({size(sizes.key_length), sizes.static_key_length, text.key, masked_keys, i.key_length},
              plan.query_length);
  }
  const Index own = sizes.static_key_length ? *sizes.static_key_length : plan.key_length;
  plan.masked_keys = plan.past + std::min(own, std::numeric_limits<Index>::max() - plan.past);
}

void check_multi_head_attention(const ScenarioPlan& plan, const Scenario& scenario, const GivenSizes& sizes,
                                Contradictions& wrong) {
  const AttentionOptions& o = plan.options;
  wrong.check(
      is_latent(o) || !plan.self_attention || (o.kdim == o.embed_dim && o.vdim == o.embed_dim),
      fmt::format("in self-attention key and value are the query, but kdim = {}{} and vdim = {}{} beside "
                  "embed_dim = {}{}: set inputs.self_attention to false",
                  o.kdim, size_source(sizes.kdim), o.vdim, size_source(sizes.vdim), o.embed_dim,
                  size_source(sizes.embed_dim)),
      sizes.kdim || sizes.vdim || sizes.embed_dim);
  wrong.check(!scenario.head_gain || static_cast<Index>(scenario.head_gain->size()) == o.num_heads,
              fmt::format("heads.gain has {} numbers, num_heads is {}", o.head_gain.size(), o.num_heads));
  wrong.check(scenario.parameters.source != ParameterSource::hand_made ||
                  (o.kdim == o.embed_dim && o.vdim == o.embed_dim),
              fmt::format("parameters.source \"hand_made\" needs kdim = vdim = embed_dim: got {}, {} and {}",
                          o.kdim, o.vdim, o.embed_dim));
  const bool from_files = scenario.parameters.source == ParameterSource::file ||
                          scenario.parameters.source == ParameterSource::model;
  wrong.check(!from_files || scenario.parameters.file.has_value(),
              fmt::format("parameters.source is \"{}\" but parameters.file is null",
                          choice_name(scenario.parameters.source)));
}

void check_scaled_dot_product_attention(const Scenario& scenario, const GivenArrays& given,
                                        Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  std::map<Op, std::vector<std::string>> by_operator;  // that has them
  const auto absent = [&](bool set, const std::string& key, Op having = Op::multi_head_attention) {
    if (set) by_operator[having].push_back(key);
  };
  absent(a.add_bias_kv, "add_bias_kv");
  for_options_with<AttentionSpec>(module_only, [&](const OptionRow& row, auto member) {
    const bool of_latents = (row.traits & latent_only) != 0;
    absent(is_set(a, member), row.key, of_latents ? Op::multi_head_latent_attention : Op::multi_head_attention);
  });
  absent(scenario.head_gain.has_value(), "heads.gain");
  for (const auto& [having, keys] : by_operator)
    wrong.add(fmt::format("scaled_dot_product_attention has no {}: set op to {}, or leave {} out",
                          join(keys, ", no "), choice_name(having), keys.size() == 1 ? "it" : "them"));
  for (const std::string_view name : parameter_array_names())
    if (const auto tensor = find_tensor_name(name);
        !(tensor && is_of_both_operators(tensor->id)) && given.contains(std::string(name)))
      wrong.add(
          fmt::format("scaled_dot_product_attention has no parameters, but {} is given: set op to {}, or "
                      "leave it out",
                      name,
                      choice_name(is_latent_parameter(tensor ? tensor->id : TensorId::query)
                                      ? Op::multi_head_latent_attention
                                      : Op::multi_head_attention)),
          true);
}

// A preset makes an attn_mask, or adds to the one that is given.
void plan_mask_preset(ScenarioPlan& plan, const MaskSpec& mask, const GivenArrays& given,
                      Contradictions& wrong) {
  if (!mask.preset || *mask.preset == "causal") return;
  const MaskPresetReading reading = read_mask_preset(*mask.preset, plan.masked_keys);
  wrong.check(reading.preset.has_value(), reading.refusal);
  plan.mask_preset = reading.preset;
  const auto attn_mask = given.find("attn_mask");
  if (!reading.preset || attn_mask == given.end()) return;
  const std::vector<Index> sizes = attn_mask->second.outline().shape().sizes();
  const bool whole =
      sizes.size() >= 2 && sizes[sizes.size() - 2] == plan.query_length && sizes.back() == plan.masked_keys;
  wrong.check(
      whole,
      fmt::format("mask.preset \"{}\" adds to attn_mask {}, whose last two axes are then (L,S) = ({},{})",
                  *mask.preset, attn_mask->second.outline().shape().sizes_text(), plan.query_length,
                  plan.masked_keys),
      true);
}

void check_inputs_and_masks(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            Contradictions& wrong) {
  const MaskSpec& m = scenario.mask;
  wrong.check(scenario.inputs.source != InputSource::file || scenario.inputs.file || given.contains("query"),
              "inputs.source is \"file\", but inputs.file is null and no query is given: name a file there, "
              "or use --input");
  if (!m.valid_lens || given.contains("valid_lens")) return;
  const auto rows = static_cast<Index>(m.valid_lens->size());
  wrong.check(rows == plan.batch, fmt::format("mask.valid_lens has {} entries, N is {}", rows, plan.batch));
  for (const auto& row : *m.valid_lens) {
    const Index expected = m.valid_lens_per_query ? plan.query_length : 1;
    if (static_cast<Index>(row.size()) != expected) {
      wrong.add(fmt::format("mask.valid_lens has a list of {}, L is {}", row.size(), plan.query_length));
      break;
    }
    const auto outside = std::ranges::find_if(row, [&](Index n) { return n < 0 || n > plan.masked_keys; });
    if (outside != row.end()) {
      wrong.add(fmt::format("mask.valid_lens has the length {}, expected 0 to {} = {}", *outside,
                            key_axis_name(plan.past > 0, false), plan.masked_keys));
      break;
    }
  }
}

std::string shape_text(const ScenarioPlan& plan, std::size_t frozen) {
  return fmt::format("({},{},{},{})", plan.batch, frozen, plan.query_length, plan.all_keys);
}

// Checks the frozen heads, and that their weights fit: after every other size is known.
void plan_frozen_heads(ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                       Contradictions& wrong) {
  if (!scenario.frozen_heads) return;
  const FrozenHeads& frozen = *scenario.frozen_heads;
  AttentionOptions& o = plan.options;
  const std::int64_t largest = *std::ranges::max_element(frozen.heads);
  wrong.check(largest < o.num_heads,
              fmt::format("heads.frozen names head {}, but heads count from 0 to {}: leave it "
                          "out, or set num_heads",
                          largest, o.num_heads - 1));
  const auto found = given.find("frozen_weights");
  const std::string expected =
      fmt::format("(N,F,L,{}) = {}", plan.key_axis(), shape_text(plan, frozen.heads.size()));
  if (found == given.end())
    return wrong.add(
        fmt::format("heads.frozen has no attn_weights: write them there, {}, or give an array "
                    "frozen_weights",
                    expected));
  const bool inline_weights = frozen.attn_weights && &found->second.outline() == frozen.attn_weights.get();
  const Shape& shape = found->second.outline().shape();
  // Lists without numbers cannot give the sizes after an axis of 0.
  const bool both_empty =
      shape.element_count() == 0 && (plan.batch == 0 || plan.query_length == 0 || plan.all_keys == 0);
  const std::vector<Index> sizes{plan.batch, static_cast<Index>(frozen.heads.size()), plan.query_length,
                                 plan.all_keys};
  wrong.check(shape.sizes() == sizes || (both_empty && inline_weights),
              fmt::format("{} is {}, expected {}: freeze the heads again at these sizes, or set heads.frozen "
                          "to null",
                          inline_weights ? "heads.frozen.attn_weights" : "frozen_weights", shape.sizes_text(),
                          expected),
              !inline_weights);
  o.frozen_heads.assign(frozen.heads.begin(), frozen.heads.end());
}

bool decide_packed(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                   Contradictions& wrong) {
  const AttentionOptions& o = plan.options;
  std::vector<std::string> separate, missing;
  for (const std::string name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"}) {
    const bool replaced =
        (name[0] == 'k' && given.contains("static_k")) || (name[0] == 'v' && given.contains("static_v"));
    if (given.contains(name))
      separate.push_back(name);
    else if (!replaced)
      missing.push_back(name);
  }
  if (given.contains("in_proj_weight")) {
    wrong.check(separate.empty(),
                fmt::format("in_proj_weight (packed) and {} (separate) are both given: leave one kind out",
                            join(separate, ", ")),
                true);
    return true;
  }
  const bool made_packed = o.kdim == o.embed_dim && o.vdim == o.embed_dim &&
                           scenario.parameters.layout == ProjectionLayout::packed;
  // A scenario with separate projections generates what is not given;
  // next to packed ones that would be an accident.
  wrong.check(
      separate.empty() || missing.empty() || !made_packed,
      fmt::format("of the separate projections only {} {} given: give {} too, or set parameters.layout to "
                  "\"separate\" to have {} made",
                  join(separate, " and "), separate.size() == 1 ? "is" : "are", join(missing, " and "),
                  missing.size() == 1 ? "it" : "them"),
      true);
  return separate.empty() && made_packed;
}

void check_biases(const Scenario& scenario, const GivenArrays& given, Contradictions& wrong) {
  for (const char* name : {"in_proj_bias", "q_a_proj.bias", "kv_a_proj_with_mqa.bias", "out_proj.bias"})
    wrong.check(scenario.attention.bias || !given.contains(name),
                fmt::format("attention.bias is false, but {} is given", name), true);
  const bool bias_k = given.contains("bias_k"), bias_v = given.contains("bias_v");
  wrong.check(bias_k == bias_v,
              fmt::format("{} is given without {}: both or neither", bias_k ? "bias_k" : "bias_v",
                          bias_k ? "bias_v" : "bias_k"),
              true);
  const char* fixed = given.contains("static_k")   ? "static_k"
                      : given.contains("static_v") ? "static_v"
                                                   : nullptr;
  if (fixed != nullptr && (bias_k || bias_v || scenario.attention.add_bias_kv))
    wrong.add(fmt::format("{} excludes {}: a static array has no room for an appended row", fixed,
                          bias_k || bias_v ? "bias_k and bias_v" : "attention.add_bias_kv"),
              true);
}

// A cache in front of keys that are projected, which alone says where the queries stand.
void check_past(const ScenarioPlan& plan, const GivenArrays& given, Contradictions& wrong) {
  const Op op = plan.options.op;
  const auto [keys, values] = cached_tensors(op);
  const TensorEntry &first = tensor_entry(keys.past), &second = tensor_entry(values.past);
  for (const CachedTensor& other : cached_by_any) {
    const std::string name(tensor_entry(other.past).name);
    if (given.contains(name) && other.past != first.id && other.past != second.id)
      wrong.add(
          fmt::format("{} keeps no {} in its cache: give {} {} and {} {}, or set op to {}", choice_name(op),
                      name, first.name, first.shape, second.name, second.shape,
                      choice_name(is_latent(op) ? Op::multi_head_attention : Op::multi_head_latent_attention)),
          true);
  }
  const char* const past = source_of_past(plan, given);
  if (!past) return;
  for (const auto& [name, why] :
       {std::pair("static_k", "the keys of the past come before keys that are projected"),
        {"static_v", "the values of the past come before values that are projected"},
        {"nonpad_kv_seqlen", "both say where the queries stand"}})
    if (given.contains(name))
      wrong.add(fmt::format("{} and {} exclude each other: {}; leave one out", past, name, why), true);
  const bool key = given.contains(std::string(first.name)), value = given.contains(std::string(second.name));
  wrong.check(key == value,
              fmt::format("{} is given without {}: both or neither", (key ? first : second).name,
                          (key ? second : first).name),
              true);
}

}  // namespace

const char* source_of_past(const ScenarioPlan& plan, const GivenArrays& given) {
  for (const CachedTensor& cached : cached_tensors(plan.options.op))
    if (const TensorEntry& entry = tensor_entry(cached.past); given.contains(std::string(entry.name)))
      return entry.name.data();
  return plan.options.past_length ? "inputs.past_length" : nullptr;
}

std::string place_of_value(const Scenario& scenario, const std::string& key) {
  const ScenarioOrigin& origin = scenario.origin;
  if (origin.changed.contains(key)) return "--set " + key;
  if (origin.written.contains(key))
    return origin.file.empty() ? key : fmt::format("{}: {}", origin.file, key);
  if (is_of_model(scenario) && origin.layer && is_layer_key(key))
    return fmt::format("layer {} of {}: {}", scenario.parameters.layer, *scenario.parameters.file, key);
  return key;
}

ScenarioPlan plan_scenario(const Scenario& scenario, const GivenArrays& given, const GivenSizes& sizes,
                           const TextLengths& text) {
  const AttentionSpec& a = scenario.attention;
  const bool sdpa = scenario.op == Op::scaled_dot_product_attention;
  Contradictions wrong(scenario);
  ScenarioPlan plan;
  AttentionOptions& o = plan.options;
  copy_options(o, scenario);
  plan.self_attention =
      !sdpa && scenario.inputs.self_attention && !given.contains("key") && !given.contains("value");

  o.embed_dim = size_of(scenario, "embed_dim", "E", a.embed_dim, AttentionSpec{}.embed_dim, sizes.embed_dim);
  o.kdim = size_of(scenario, "kdim", "kdim", a.kdim, sizes.kdim, o.embed_dim);
  o.vdim = size_of(scenario, "vdim", "vdim", a.vdim, sizes.vdim, o.embed_dim);
  is_latent(o) ? plan_latent_heads(plan, scenario, sizes) : plan_heads(plan, scenario, sizes, wrong);
  plan_lengths(plan, scenario, sizes, text, wrong);
  const bool bias_row = a.add_bias_kv || given.contains("bias_k");
  const Index appended = sdpa ? 0 : (bias_row ? 1 : 0) + (a.add_zero_attn ? 1 : 0);
  plan.all_keys = std::min(plan.masked_keys, std::numeric_limits<Index>::max() - appended) + appended;
  check_past(plan, given, wrong);
  check_inputs_and_masks(plan, scenario, given, wrong);
  plan_frozen_heads(plan, scenario, given, wrong);
  plan_mask_preset(plan, scenario.mask, given, wrong);
  check_rotary_embedding(plan, scenario, given, sizes, wrong);
  plan_rotary_scaling(plan, scenario, wrong);
  check_qk_norm(scenario, given, wrong);
  if (a.relative_bias) {
    const std::string problem = relative_bias_problem(*a.relative_bias);
    wrong.check(problem.empty(), "attention.relative_bias." + problem);
  }
  check_indexer(plan, scenario, given, wrong);
  wrong.check(
      !o.sliding_window || !(o.window_left || o.window_right),
      "mask.sliding_window and mask.window_left or window_right exclude each other: both are the window; "
      "leave one out");
  wrong.check(
      a.sink.size() <= 1 || static_cast<Index>(a.sink.size()) == o.num_heads,
      fmt::format("attention.sink has {} numbers, num_heads is {}: write one number for every head, or "
                  "one for each",
                  a.sink.size(), o.num_heads));
  if (sdpa) {
    check_scaled_dot_product_attention(scenario, given, wrong);
    const Index width = checked_multiply(o.num_heads, o.head_dim, "attention.num_heads × attention.head_dim");
    wrong.check(!sizes.head_dim || a.head_dim || width == a.embed_dim ||
                    !is_written(scenario, "attention.embed_dim", a.embed_dim, AttentionSpec{}.embed_dim),
                fmt::format("embed_dim = {} is written, but H·D = {}·{} = {}{}", a.embed_dim, o.num_heads,
                            o.head_dim, width, size_source(sizes.head_dim)),
                true);
    wrong.throw_if_any();
    o.embed_dim = checked_multiply(o.num_heads, o.v_head_dim, "attention.num_heads × attention.v_head_dim");
    o.kdim = o.vdim = o.embed_dim;
    return plan;
  }
  check_multi_head_attention(plan, scenario, sizes, wrong);
  check_biases(scenario, given, wrong);
  if (is_latent(o)) {
    check_latent_attention(plan, scenario, given, sizes, wrong);
    wrong.throw_if_any();
    return plan;
  }
  for (const char* const option : set_options(a, latent_only))
    wrong.add(fmt::format(
        "multi_head_attention has no {}: set op to multi_head_latent_attention, or leave it out", option));
  plan.packed = decide_packed(plan, scenario, given, wrong);
  plan.value_is_key = !plan.self_attention && !given.contains("value") && o.kdim == o.vdim;
  wrong.throw_if_any();
  return plan;
}

}  // namespace headwise
