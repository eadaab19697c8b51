// Scenario → AttentionInputs, in this order: gather arrays, plan (every size and option), check the memory,
// split texts into tokens, create or share tensors, apply edits, write labels.
#include "core/scenario/scenario_inputs.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/grad_output.h"
#include "core/attention/indexer.h"
#include "core/attention/latent_attention.h"
#include "core/attention/projection_layouts.h"
#include "core/attention/softmax.h"
#include "core/attention/trace_warnings.h"
#include "core/scenario/cell_edits.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/hand_made_heads.h"
#include "core/scenario/input_notes.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/made_inputs.h"
#include "core/scenario/overridden_settings.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_plan.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/text_inputs.h"
#include "core/scenario/weight_initialisation.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Everything needed to create one scenario's tensors, so that each group is one short function.
struct InputBuilder {
  const Scenario& scenario;
  const ScenarioPlan& plan;
  const GivenArrays& given;
  const Texts& texts;
  ModelInput* model;  // null: the text is not a model's
  DType dtype;
  TensorMaker& maker;
  std::vector<std::string>& notes;
  bool outlines = false;  // given arrays become outlines: none is read

  // The given array in the trace's layout, or null.
  TensorPtr given_or_null(const std::string& name) const {
    const auto found = given.find(name);
    if (found == given.end()) return nullptr;
    const AttentionOptions& o = plan.options;
    const bool batch_first = scenario.inputs.batch_first;
    const std::string recipe = fmt::format("{} {} {} {} {} {}", given_recipe, choice_name(o.op),
                                           dtype_name(dtype), batch_first, plan.batch, o.num_kv_heads);
    std::vector<std::string> fresh;
    if (outlines) {
      const Tensor outline = Tensor::outline(found->second.outline().shape(), found->second.outline().dtype());
      return std::make_shared<const Tensor>(
          given_tensor(name, outline, o, plan.batch, batch_first, dtype, fresh));
    }
    const TensorPtr array = found->second.tensor();
    const TensorPtr tensor = maker.get(name, recipe, {array}, [&] {
      return given_tensor(name, *array, o, plan.batch, batch_first, dtype, fresh);
    });
    const std::vector<std::string>& all = maker.notes(name, fresh);
    notes.insert(notes.end(), all.begin(), all.end());
    return tensor;
  }

  TensorPtr input(const InputOrder& order) const {
    if (TensorPtr tensor = given_or_null(order.name)) return tensor;
    const InputsSpec& i = scenario.inputs;
    std::string recipe = fmt::format("{} {} {} {} {} {} {} {}", dtype_name(dtype), choice_name(i.source),
                                     i.seed, i.positions, plan.batch, order.length, order.width, order.heads);
    if (order.tokens != nullptr)
      for (const Token& token : *order.tokens) recipe += '\n' + token.lookup;
    return maker.get(order.name, recipe, {}, [&] { return made_input(order, i, plan.batch, dtype); });
  }

  // The layer's input that the model computes from the text.
  TensorPtr layer_input() const {
    const Index width = model->model->transformer()->config().embed_dim;
    if (width != plan.options.embed_dim)
      throw Error(ExitStatus::input, {"in_proj_weight", "the given parameters do not fit the model's text",
                                      fmt::format("E = {}", plan.options.embed_dim),
                                      fmt::format("E = {}", width), "leave them out, or also give a query"});
    if (outlines)
      return std::make_shared<const Tensor>(
          Tensor::outline({{"N", plan.batch}, {"L", plan.query_length}, {"E", width}}, dtype));
    return make_layer_input(*model, plan.batch, dtype, maker);
  }

  void make_inputs(TraceTensors& t) const {
    const AttentionOptions& o = plan.options;
    const bool sdpa = o.op == Op::scaled_dot_product_attention;
    const Index L = plan.query_length, S = plan.key_length;
    // A text represents its input only if no array has replaced it with another length.
    const auto tokens = [](const std::optional<std::vector<Token>>& text, Index length) {
      return text && static_cast<Index>(text->size()) == length ? &*text : nullptr;
    };
    const std::vector<Token>* query = tokens(texts.query, L);
    const std::vector<Token>* key = tokens(texts.key, S);
    t.query = model ? layer_input()
                    : input({"query", query, L, "L", sdpa ? "D" : "E", sdpa ? o.head_dim : o.embed_dim,
                             sdpa ? o.num_heads : 0});
    if (plan.self_attention) {
      t.key = t.query;
      if (!is_latent(o)) t.value = t.query;
      return;
    }
    t.key =
        input({"key", key, S, "S", sdpa ? "D" : "kdim", sdpa ? o.head_dim : o.kdim, sdpa ? o.num_kv_heads : 0});
    if (is_latent(o)) return;
    if (plan.value_is_key && given.contains("key"))
      notes.push_back("value was not given: it is the same as key");
    t.value = plan.value_is_key ? t.key
                                : input({"value", key, S, "S", sdpa ? "Dv" : "vdim",
                                         sdpa ? o.v_head_dim : o.vdim, sdpa ? o.num_kv_heads : 0});
  }

  // What a cache keeps: given, or numbers.
  void make_past(TraceTensors& t) const {
    const AttentionOptions& o = plan.options;
    if (!o.past_length) return;
    if (is_latent(o)) {
      const Index C = o.kv_lora_rank.value_or(0), R = o.qk_rope_head_dim.value_or(0);
      t.past_compressed_kv = input({"past_compressed_kv", nullptr, plan.past, "P", "C", C, 0});
      t.past_k_rot = input({"past_k_rot", nullptr, plan.past, "P", "R", R, 1, "1"});
      return;
    }
    t.past_key = input({"past_key", nullptr, plan.past, "P", "D", o.head_dim, o.num_kv_heads});
    t.past_value = input({"past_value", nullptr, plan.past, "P", "Dv", o.v_head_dim, o.num_kv_heads});
  }

  // A parameter: given, or generated by `make`,
  // whose numbers depend on the parameters' specification and the sizes.
  TensorPtr parameter(const char* name, const std::function<Tensor()>& make) const {
    if (TensorPtr tensor = given_or_null(name)) return tensor;
    const ParametersSpec& p = scenario.parameters;
    const AttentionOptions& o = plan.options;
    std::string recipe = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", dtype_name(dtype),
                                     choice_name(p.source), choice_name(p.init), p.seed, o.embed_dim, o.kdim,
                                     o.vdim, o.num_heads, o.num_kv_heads, o.head_dim, o.v_head_dim);
    if (is_latent(o))  // in both layouts the same, so that one can be compared with the other
      recipe = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", dtype_name(dtype), choice_name(p.source),
                           choice_name(p.init), p.seed, o.embed_dim, o.kdim, o.num_heads,
                           o.kv_lora_rank.value_or(0), o.q_lora_rank.value_or(0),
                           o.qk_nope_head_dim.value_or(0), o.qk_rope_head_dim.value_or(0), o.v_head_dim);
    return maker.get(name, recipe, {}, make);
  }

  Tensor projection(Projection which) const {
    const ParametersSpec& p = scenario.parameters;
    return p.source == ParameterSource::hand_made
               ? hand_made_projection(which, plan.options, p.seed, dtype)
               : random_projection_weight(which, plan.options, p.init, p.seed, dtype);
  }

  // Those of multi_head_latent_attention before the output projection.
  void make_latent_parameters(TraceTensors& t) const {
    const AttentionOptions& o = plan.options;
    const ParametersSpec& p = scenario.parameters;
    const AttentionSizes sizes = attention_sizes(o, t);
    const auto make = [&](TensorId id) {
      const TensorEntry& entry = tensor_entry(id);
      t.*(entry.member) = parameter(
          entry.name.data(), [&] { return random_latent_weight(id, o, sizes, p.init, p.seed, dtype); });
    };
    const auto make_bias = [&](TensorId id) {
      if (!scenario.attention.bias) return;
      const TensorEntry& entry = tensor_entry(id);
      t.*(entry.member) =
          parameter(entry.name.data(), [&] { return Tensor(computed_shape(id, o, sizes), dtype); });
    };
    const bool compressed = o.q_lora_rank.has_value();
    make(TensorId::kv_a_weight);
    make_bias(TensorId::kv_a_bias);
    t.kv_a_norm_weight = given_or_null("kv_a_layernorm.weight");
    make(TensorId::kv_b_weight);
    if (compressed) {
      make(TensorId::q_a_weight);
      make_bias(TensorId::q_a_bias);
      t.q_a_norm_weight = given_or_null("q_a_layernorm.weight");
      make(TensorId::q_b_weight);
    } else {
      make(TensorId::q_proj_weight);
    }
    for (const char* const name :
         {"q_a_proj.weight", "q_a_proj.bias", "q_a_layernorm.weight", "q_b_proj.weight"})
      if (!compressed && given.contains(name))
        notes.push_back(fmt::format("{} is not used: attention.q_lora_rank is null", name));
    if (compressed && given.contains("q_proj_weight"))
      notes.push_back("q_proj_weight is not used: attention.q_lora_rank is set");
  }

  void make_projections(TraceTensors& t) const {
    const auto separate = [&](const char* name, Projection which) {
      return parameter(name, [this, which] { return projection(which); });
    };
    t.static_k = given_or_null("static_k");
    t.static_v = given_or_null("static_v");
    if (plan.packed) {
      t.in_proj_weight = parameter("in_proj_weight", [this] {
        return packed_projections(projection(Projection::q), projection(Projection::k),
                                  projection(Projection::v));
      });
    } else {
      t.q_proj_weight = separate("q_proj_weight", Projection::q);
      t.k_proj_weight = separate("k_proj_weight", Projection::k);
      t.v_proj_weight = separate("v_proj_weight", Projection::v);
    }
    if (!scenario.attention.bias) return;
    const ProjectionRows rows = projection_rows(plan.options);
    t.in_proj_bias = parameter("in_proj_bias", [&] {
      return Tensor({{"H·D+G·D+G·Dv", rows.q + rows.k + rows.v}}, dtype);
    });
  }

  void make_parameters(TraceTensors& t) const {
    const AttentionOptions& o = plan.options;
    const ParametersSpec& p = scenario.parameters;
    is_latent(o) ? make_latent_parameters(t) : make_projections(t);
    t.out_proj_weight = parameter("out_proj.weight", [&] {
      return p.source == ParameterSource::hand_made ? hand_made_out_weight(o, dtype)
                                                    : random_out_weight(o, p.init, p.seed, dtype);
    });
    if (scenario.attention.bias)
      t.out_proj_bias = parameter("out_proj.bias", [&] { return Tensor({{"E", o.embed_dim}}, dtype); });
    if (o.output_gate) {
      t.output_gate_weight =
          parameter("output_gate.weight", [&] { return random_gate_weight(o, p.init, p.seed, dtype); });
      t.output_gate_bias = given_or_null("output_gate.bias");
    }
    if (o.qk_norm) {
      t.q_norm_weight = given_or_null("q_norm.weight");
      t.k_norm_weight = given_or_null("k_norm.weight");
    }
    const auto unused = [&](const char* name, const char* why) {
      if (given.contains(name)) notes.push_back(fmt::format("{} is not used: {}", name, why));
    };
    if (!o.qk_norm)
      for (const char* const name : {"q_norm.weight", "k_norm.weight"})
        unused(name, "attention.qk_norm is null");
    if (!o.output_gate)
      for (const char* const name : {"output_gate.weight", "output_gate.bias"})
        unused(name, "attention.output_gate is false");
    if (is_latent(o)) return;
    for (const TensorEntry& entry : tensor_entries())
      if (is_latent_parameter(entry.id)) unused(entry.name.data(), "op is multi_head_attention");
    if (scenario.attention.add_bias_kv || given.contains("bias_k")) {
      t.bias_k = parameter("bias_k", [&] { return random_bias_k(o, p.init, p.seed, dtype); });
      t.bias_v = parameter("bias_v", [&] { return random_bias_v(o, p.init, p.seed, dtype); });
    }
  }

  // One logit a head, given or as attention.sink says.
  void make_sinks(TraceTensors& t) const {
    if ((t.sinks = given_or_null("sinks")) || plan.options.sink.empty()) return;
    const std::vector<double> sinks = sinks_of_heads(plan.options, t, plan.options.num_heads);
    t.sinks = maker.get("sinks by attention.sink", fmt::format("{} {}", dtype_name(dtype), join(sinks, " ")),
                        {}, [&] {
                          return Tensor({{"H", std::ssize(sinks)}}, sinks).converted(dtype);
                        });
  }

  // T5's biases are as large as scores are, whatever the projections are drawn from.
  void make_relative_bias(TraceTensors& t) const {
    const char* const name = "relative_attention_bias.weight";
    if (!plan.options.relative_bias) {
      if (given.contains(name))
        notes.push_back(fmt::format("{} is not used: attention.relative_bias is null", name));
      return;
    }
    if ((t.relative_bias_weight = given_or_null(name))) return;
    const std::uint64_t seed = scenario.parameters.seed;
    const std::string recipe = fmt::format("{} {} {} {}", dtype_name(dtype), seed, plan.options.num_heads,
                                           plan.options.relative_bias->buckets);
    t.relative_bias_weight =
        maker.get(name, recipe, {}, [&] { return random_relative_weight(plan.options, seed, dtype); });
  }

  // The indexer's parameters, or the queries, keys and weights that scaled_dot_product_attention is given.
  void make_indexer(TraceTensors& t, bool parameters) const {
    const AttentionOptions& o = plan.options;
    const bool sdpa = o.op == Op::scaled_dot_product_attention;
    for (const TensorEntry& entry : tensor_entries()) {
      if (!is_of_indexer(entry.id) || !given.contains(std::string(entry.name))) continue;
      const bool computed = is_given_to_sdpa(entry.id) && !sdpa;  // and in a trace's file beside what is used
      if (!o.indexer && !computed)
        notes.push_back(fmt::format("{} is not used: mask.indexer is null", entry.name));
    }
    if (!o.indexer) return;
    const Indexer& indexer = *o.indexer;
    if (sdpa) {
      const Index L = plan.query_length, S = plan.key_length, W = indexer.width, heads = indexer.heads;
      t.indexer_q = input({"indexer_q", nullptr, L, "L", "W", W, heads, "Hi"});
      t.indexer_k = input({"indexer_k", nullptr, S, "S", "W", W, 1, "1"});
      t.indexer_weights = input({"indexer_weights", nullptr, L, "L", "Hi", heads, 0});
      return;
    }
    if (!parameters) return;
    const auto made = [&](const char* name, Axis rows, Axis columns) {
      if (TensorPtr tensor = given_or_null(name)) return tensor;
      const ParametersSpec& p = scenario.parameters;
      const Shape shape{std::move(rows), std::move(columns)};
      return maker.get(
          name,
          fmt::format("{} {} {} {} {}", dtype_name(dtype), choice_name(p.init), p.seed, indexer.width,
                      shape.to_string()),
          {}, [&] { return random_indexer_weight(name, shape, indexer.width, p.init, p.seed, dtype); });
    };
    t.indexer_wq_b = made("indexer.wq_b.weight",
                          {"Hi·W", checked_multiply(indexer.heads, indexer.width, "indexer.wq_b.weight")},
                          {is_latent(o) ? "Cq" : "E", indexer_source_width(o)});
    t.indexer_wk = made("indexer.wk.weight", {"W", indexer.width}, {"kdim", o.kdim});
    t.indexer_k_norm_weight = given_or_null("indexer.k_norm.weight");
    t.indexer_k_norm_bias = given_or_null("indexer.k_norm.bias");
    t.indexer_weights_proj = made("indexer.weights_proj.weight", {"Hi", indexer.heads}, {"E", o.embed_dim});
  }

  // The given attn_mask with what mask.preset blocks, or the preset's own.
  TensorPtr with_preset(const TensorPtr& attn_mask) const {
    if (!plan.mask_preset || (outlines && attn_mask)) return attn_mask;
    const std::string recipe = fmt::format(
        "{} {} {} {} {} {}", *scenario.mask.preset, choice_name(plan.options.op),
        choice_name(plan.options.causal_alignment), plan.query_length, plan.past, plan.masked_keys);
    return maker.get("attn_mask by preset", recipe, {attn_mask}, [&] {
      return preset_mask(*plan.mask_preset, plan.options, plan.query_length, plan.masked_keys, attn_mask.get());
    });
  }

  void make_masks(TraceTensors& t) const {
    t.attn_mask = with_preset(given_or_null("attn_mask"));
    t.key_padding_mask = given_or_null("key_padding_mask");
    t.valid_lens = given_or_null("valid_lens");
    t.nonpad_kv_seqlen = given_or_null("nonpad_kv_seqlen");
    const MaskSpec& m = scenario.mask;
    if (t.valid_lens || !m.valid_lens) return;
    std::vector<Index> lens;
    for (const auto& row : *m.valid_lens) lens.insert(lens.end(), row.begin(), row.end());
    std::vector<Axis> axes{{"N", plan.batch}};
    if (m.valid_lens_per_query) axes.push_back({"L", plan.query_length});
    t.valid_lens = maker.get("valid_lens", fmt::format("{} {}", axes.size(), join(lens, ",")), {},
                             [&] { return Tensor(Shape(axes), lens); });
  }

  // The weights of frozen heads; without a frozen head nothing reads the array.
  void make_frozen_weights(TraceTensors& t) const {
    const auto found = given.find("frozen_weights");
    if (plan.options.frozen_heads.empty()) {
      if (found != given.end()) notes.push_back("frozen_weights is not used: heads.frozen names no heads");
      return;
    }
    const Shape shape{{"N", plan.batch},
                      {"F", static_cast<Index>(plan.options.frozen_heads.size())},
                      {"L", plan.query_length},
                      {plan.key_axis(), plan.all_keys}};
    const TensorPtr weights = given_or_null("frozen_weights");
    t.frozen_weights = maker.get("frozen_weights by heads", shape.to_string(), {weights}, [&] {
      return outlines ? Tensor::outline(shape, weights->dtype()) : weights->reshaped(shape);
    });
  }

  TraceTensors made(bool parameters) const {
    TraceTensors t;
    make_inputs(t);
    make_past(t);
    if (projects(scenario.op) && parameters) make_parameters(t);
    make_sinks(t);
    make_relative_bias(t);
    make_indexer(t, parameters);
    make_masks(t);
    make_frozen_weights(t);
    return t;
  }

  // The hand-made heads, if they are in use and their inputs are as designed for.
  void describe_heads(std::vector<HeadDescription>& heads) const {
    const bool replaced = given.contains("in_proj_weight") || given.contains("q_proj_weight") ||
                          given.contains("k_proj_weight");
    if (!projects(scenario.op) || scenario.parameters.source != ParameterSource::hand_made || replaced) {
      return;
    }
    heads = describe_hand_made_heads(plan.options.num_heads);
    if (scenario.inputs.source != InputSource::text || given.contains("query") || given.contains("key")) {
      notes.push_back(
          "the hand-made heads rely on the layout of text embeddings, which these inputs do not have");
    } else if (!scenario.inputs.positions) {
      notes.push_back("positions are off: hand-made heads that use positions cannot tell them apart");
    }
  }
};

// What the model computed from the same text up to the same layer need not be recomputed.
void take_hidden_state(ModelInput& input, const ModelInput* earlier) {
  if (earlier && earlier->model == input.model && earlier->layer == input.layer && earlier->text == input.text)
    input.hidden_state = earlier->hidden_state;
}

// The scenario's layer, if its sizes are those that the scenario gives, so that nothing of it has to be read
// to know them; else null.
std::shared_ptr<const AttentionLayer> layer_of_known_sizes(const Scenario& scenario) {
  const std::string path = path_from(scenario.origin.folder, *scenario.parameters.file);
  const AttentionLayer layer = layer_of_scenario(scenario, path, TextModel::open(path)->layers());
  if (layer.query_width != scenario.attention.embed_dim) return nullptr;
  return std::make_shared<const AttentionLayer>(layer);
}

// Checks everything but the values of given arrays before any of them is read. Returns what was generated for
// that.
MadeTensors check_outlines(const Scenario& scenario, const ScenarioPlan& plan, const GivenArrays& arrays,
                           const Texts& texts, ModelInput* model, DType dtype, const MadeTensors* known,
                           const InputsNeed& need) {
  MadeTensors generated;
  std::vector<std::string> later_notes;
  TensorMaker maker(known, generated);
  const InputBuilder workshop{scenario, plan, arrays, texts, model, dtype, maker, later_notes, true};
  const bool parameters = need.parameters || !scenario.edits.empty();
  const AttentionInputs outlined{.options = plan.options, .dtype = dtype, .tensors = workshop.made(parameters)};
  if (parameters || scenario.op == Op::scaled_dot_product_attention) check_attention_inputs(outlined);
  if (const TensorPtr grad_output = workshop.given_or_null("grad_output"); grad_output && need.backward)
    check_grad_output(*grad_output, outlined.options, outlined.tensors, dtype);
  return generated;
}

}  // namespace

ScenarioInputs make_scenario_inputs(const Scenario& asked, DType dtype, const GivenArrays& given,
                                    const ScenarioInputs* previous, const InputsNeed& need) {
  check_scenario(asked);
  const Scenario scenario = with_layer_values(asked);
  ScenarioInputs inputs;
  const ArrayFiles* const files = previous ? &previous->files : nullptr;
  const bool of_model = projects(scenario.op) && is_of_model(scenario);
  const bool parameters = need.parameters || !scenario.edits.empty();
  if (!parameters && of_model) inputs.layer = layer_of_known_sizes(scenario);
  Scenario gathered = scenario;
  if (inputs.layer) gathered.parameters.source = ParameterSource::random;  // nothing of the model is read
  GivenArrays arrays = gather_arrays(gathered, given, files, inputs.files);
  GivenSizes sizes = given_sizes(arrays, scenario);
  for (const auto& [path, file] : inputs.files)
    if (file.layer) inputs.layer = file.layer;
  if (!arrays.contains("query")) inputs.model_input = read_model_input(scenario, inputs.notes);
  ModelInput* const model = inputs.model_input.get();
  if (model && previous) take_hidden_state(*model, previous->model_input.get());
  const TextLengths lengths = text_lengths(scenario.inputs, model);
  ScenarioPlan plan = plan_scenario(scenario, arrays, sizes, lengths);
  if (inputs.layer) note_layer(scenario, plan.masked_keys, inputs);
  const std::vector<Index> scores{plan.batch, plan.options.num_heads, plan.query_length, plan.all_keys};
  const bool lent = previous && previous->attention.tensors.query && previous->attention.dtype == dtype &&
                    attention_sizes(previous->attention).scores_shape().sizes() == scores;
  require_planned_memory(plan, scenario, dtype, arrays, lent ? 0 : need.maps);
  const Texts texts = cut_texts(scenario.inputs, model);
  const MadeTensors* known = previous ? &previous->made : nullptr;
  MadeTensors generated;
  if (std::ranges::any_of(arrays, [](const auto& array) { return !array.second.is_read(); })) {
    generated = check_outlines(scenario, plan, arrays, texts, model, dtype, known, need);
    if (known) generated.insert(known->begin(), known->end());
    known = &generated;
  }
  if (erase_repeated_query(scenario, given, arrays)) {
    sizes = given_sizes(arrays, scenario);
    plan = plan_scenario(scenario, arrays, sizes, lengths);
  }

  note_unused(given, inputs.notes);
  if (inputs.layer) inputs.head_count_note = head_count_note(scenario, *inputs.layer, plan.options);
  if (!inputs.head_count_note.empty()) inputs.notes.push_back("num_heads: " + inputs.head_count_note);
  TensorMaker maker(known, inputs.made);
  const InputBuilder workshop{scenario, plan, arrays, texts, model, dtype, maker, inputs.notes};
  inputs.attention.options = plan.options;
  inputs.attention.dtype = dtype;
  TraceTensors& tensors = inputs.attention.tensors;
  tensors = workshop.made(parameters);
  note_masks_like_booleans(given, tensors, inputs.notes);
  note_missing_halves(tensors, inputs.notes);
  apply_edits(scenario, plan, maker, inputs.attention);
  inputs.grad_output = workshop.given_or_null("grad_output");
  if (inputs.grad_output) {
    const std::string cells = non_finite_cells("grad_output", *inputs.grad_output);
    if (!cells.empty())
      inputs.notes.push_back(cells + ": the gradients that depend on it are not finite either");
  }
  inputs.unbatched = sizes.unbatched;
  inputs.labels = token_labels(plan, texts, tensors);
  workshop.describe_heads(inputs.heads);
  for (const MadeUpArray& array : made_up_arrays(scenario, inputs, given))
    inputs.notes.push_back(fmt::format("{} was not given: {}", array.name, array.how));
  return inputs;
}

}  // namespace headwise
