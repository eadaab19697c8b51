#include "app/web/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <span>
#include <string_view>

#include "app/content/step_words.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/rules.h"
#include "core/attention/steps.h"
#include "core/attention/trace_warnings.h"
#include "core/files/element_type.h"
#include "core/lessons/playlist.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_json.h"

namespace headwise {
namespace {

// In the order of Combine.
constexpr std::array<std::string_view, 28> combine_words{
    "given",          "copy",           "product_sum",       "rotation",
    "clip",           "scale",          "merge_masks",       "add_mask",
    "softmax",        "log_sum_exp",    "sink_share",        "dropout",
    "mean",           "gate",           "indexer_query",     "indexer_key",
    "indexer_weight", "indexer_score",  "full_softmax",      "norm",
    "clip_gradient",  "scale_gradient", "add_mask_gradient", "softmax_gradient",
    "sink_gradient",  "norm_gradient",  "gate_gradient",     "norm_weight_gradient"};

static_assert(combine_words.size() == static_cast<std::size_t>(Combine::norm_weight_gradient) + 1);

std::string_view combine_word(Combine combine) {
  return combine_words[static_cast<std::size_t>(combine)];
}

PageJson sizes_json(const AttentionSizes& s) {
  return {{"N", s.batch},     {"L", s.queries}, {"P", s.past},     {"S", s.new_keys()}, {"S′", s.all_keys},
          {"E", s.embed_dim}, {"H", s.heads},   {"G", s.kv_heads}, {"D", s.head_dim},   {"Dv", s.v_head_dim}};
}

PageJson map_json(const AxisMap& map) {
  PageJson terms = PageJson::array();
  for (const AxisTerm& term : map.terms)
    terms.push_back({term.variable, term.divide, term.modulus, term.times, term.mirrored ? 1 : 0});
  return {{"offset", map.offset}, {"terms", std::move(terms)}};
}

PageJson operand_json(const Operand& operand) {
  PageJson axes = PageJson::array();
  for (const AxisMap& map : operand.axes) axes.push_back(map_json(map));
  return {{"tensor", to_string(operand.tensor)}, {"axes", std::move(axes)}};
}

PageJson rule_json(const Rule& rule) {
  PageJson products = PageJson::array();
  for (const Product& product : rule.products) {
    PageJson factors = PageJson::array(), sums = PageJson::array(), where = PageJson::array();
    for (const Operand& factor : product.factors) factors.push_back(operand_json(factor));
    for (const SummedAxis& sum : product.sums) sums.push_back({sum.letter, sum.size});
    for (const IndexCondition& condition : product.where)
      where.push_back({condition.axis, condition.range.begin, condition.range.end});
    products.push_back(
        {{"factors", std::move(factors)}, {"sums", std::move(sums)}, {"where", std::move(where)}});
    if (const auto& band = product.band)
      products.back()["band"] = {map_json(band->row), map_json(band->column), band->ahead.begin,
                                 band->ahead.end};
    if (!product.label.empty()) products.back()["label"] = product.label;
    if (product.combine_override) products.back()["combine"] = combine_word(*product.combine_override);
  }
  return {{"combine", combine_word(rule.combine)}, {"products", std::move(products)}};
}

PageJson rules_json(const Trace& trace) {
  PageJson rules = PageJson::object();
  for (const TensorEntry& entry : tensor_entries())
    if (entry.role == TensorRole::intermediate && trace.tensor(entry.id))
      rules[std::string(entry.name)] = rule_json(declared_rule(trace, {entry.id}));
  return rules;
}

PageJson steps_json(const Trace& trace) {
  PageJson steps = PageJson::array();
  const auto name = [](std::optional<TensorId> id) {
    return id ? PageJson(tensor_entry(*id).name) : PageJson();
  };
  for (const StepEntry& step : step_entries()) {
    PageJson pictures = PageJson::array();
    for (const StepPicture& picture : step_pictures(step.step, trace)) {
      const StepWords words = step_words(step.step, picture, step_facts(trace, step.step, 0, 0));
      pictures.push_back({{"result", name(picture.result)},
                          {"left", name(picture.left)},
                          {"above", name(picture.above)},
                          {"transposed", picture.above_transposed},
                          {"rows", {picture.above_row_begin, picture.above_row_end}},
                          {"formulas", words.formulas},
                          {"sentence", words.sentence}});
    }
    steps.push_back(std::move(pictures));
  }
  return steps;
}

// The same scenario with a causal mask: what a reader sees who sets one. Null where there is a mask already,
// or none can be set.
ComputationPtr with_causal_mask(const Computation& computation) {
  if (computation.trace->tensors.mask_bias) return nullptr;
  Scenario scenario = computation.scenario;
  scenario.mask.is_causal = true;
  try {
    return compute(scenario, &computation);
  } catch (const Error&) {
    return nullptr;
  }
}

// Words of quantities that need more than this trace: other passes of the operator, a model's training.
constexpr std::string_view not_of_page[] = {"layouts", "wide", "turn", "stretch", "habit", "trained"};

PageJson given_json(const Computation& computation, const std::vector<LiveQuantity>& texts) {
  PageJson given = PageJson::object();
  const LiveSubject subject(*computation.trace, &computation.scenario, &computation.inputs);
  for (const LiveQuantity& quantity : texts) {
    if (std::ranges::find(not_of_page, quantity.word) == std::end(not_of_page)) continue;
    const LiveValue value = live_value(quantity, subject);
    if (value.kind != LiveValue::Kind::number) continue;
    given[quantity.word + " " + quantity.argument] = {
        {"kind", "number"}, {"number", value.number}, {"text", value.text}};
  }
  return given;
}

}  // namespace

std::size_t PageTensors::add(const TensorPtr& tensor) {
  static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");
  const bool kept = tensor->dtype() == DType::f32 || tensor->dtype() == DType::boolean;
  const Tensor stored = kept ? *tensor : tensor->converted(DType::f64);
  const std::span<const std::byte> storage = tensor_storage(stored);
  const std::string_view bytes(reinterpret_cast<const char*>(storage.data()), storage.size());
  const auto [at, is_new] = known_.try_emplace(
      stored.shape().sizes_text() + dtype_name(stored.dtype()) + std::string(bytes), entries_.size());
  if (is_new) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);  // so that each may be read where it lies
    entries_.push_back(
        {{"shape", stored.shape().sizes()}, {"type", dtype_name(stored.dtype())}, {"at", bytes_.size()}});
    bytes_ += bytes;
  }
  return at->second;
}

PageJson scenario_data(const Computation& computation, const std::vector<LiveQuantity>& texts,
                       PageTensors& tensors) {
  const Trace& trace = *computation.trace;
  PageJson leaves = PageJson::object();
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace.tensor(entry.id);
    if (tensor && is_given(trace, {entry.id})) leaves[std::string(entry.name)] = tensors.add(tensor);
  }
  const ComputationPtr masked = with_causal_mask(computation);
  PageJson rules = rules_json(masked ? *masked->trace : trace);
  PageJson roles = PageJson::array();
  for (const HeadDescription& head : computation.inputs.heads) roles.push_back(head.name);
  const TokenLabels& labels = computation.inputs.labels;
  // As a run's file has it: with what a model's layer determines, and with its sizes.
  const Scenario filled = with_sizes_of(with_layer_values(computation.scenario), computation.inputs.attention);
  PageJson settings = PageJson::parse(scenario_to_json(filled, true));
  // JavaScript's numbers have 53 bits, and dropout needs them all.
  settings["attention"]["dropout_seed"] = std::to_string(filled.attention.dropout_seed);
  // The page knows of no scaling: what stretched frequencies are, the plan has computed.
  if (filled.attention.rotary_scaling) {
    PageJson& attention = settings["attention"];
    attention["rotary_base"] = nullptr;
    attention["rotary_inverse_frequencies"] = trace.options.rotary_inverse_frequencies;
    attention["rotary_factor"] = trace.options.rotary_factor;
  }
  return {{"settings", std::move(settings)},
          {"sizes", sizes_json(attention_sizes(trace.options, trace.tensors))},
          {"tensors", std::move(leaves)},
          {"labels", {{"query", {labels.query}}, {"key", {labels.key}}}},
          {"roles", std::move(roles)},
          {"given", given_json(computation, texts)},
          {"rules", std::move(rules)},
          {"steps", steps_json(trace)},
          {"shown", shown_steps(trace.options)},
          {"masked_steps", masked ? steps_json(*masked->trace) : PageJson()}};
}

}  // namespace headwise
