#include "core/scenario/overridden_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/files/json_text.h"
#include "core/scenario/json_document.h"
#include "core/scenario/made_up_arrays.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

constexpr const char* input_option = "--input";

// What overrides a key; nothing does if `by` is empty.
struct Override {
  std::string by;      // a key, or --input
  std::string why;     // "inputs.source is ones"
  std::string remedy;  // empty: leave one of the two out
};

// The key that decided otherwise, with its value.
template <class Enum>
Override by_choice(const char* key, Enum value, const std::string& remedy = "") {
  return {key, fmt::format("{} is {}", key, choice_name(value)), remedy};
}

// What decides which keys have an effect.
struct Settled {
  const Scenario& scenario;
  const ScenarioInputs& inputs;
  const WrittenByUser& written;
  TextLengths text;
  Index batch, query_length, key_length;
  bool self_attention;  // key and value are the query

  const AttentionOptions& options() const { return inputs.attention.options; }
  bool given(std::string_view name) const { return array_origin(inputs, name) == ArrayOrigin::given; }
  bool generates(std::span<const std::string_view> names) const {
    return std::ranges::any_of(
        names, [&](std::string_view name) { return array_origin(inputs, name) == ArrayOrigin::generated; });
  }
  bool has_parameters() const { return inputs.attention.tensors.out_proj_weight != nullptr; }
};

Override by_array(const Settled& s, const std::string& name, const char* file_key) {
  if (!s.given(name)) return {};
  const TensorPtr& array = s.inputs.made.at(name).sources.front();
  return {s.written.input.contains(name) ? input_option : file_key,
          fmt::format("{} {} is given", name, array->shape().sizes_text()), ""};
}

// The first of these arrays that is given.
Override by_arrays(const Settled& s, std::initializer_list<const char*> names, const char* file_key) {
  for (const char* const name : names)
    if (Override found = by_array(s, name, file_key); !found.by.empty()) return found;
  return {};
}

Override without_module(const Settled& s) {
  if (s.scenario.op == Op::multi_head_attention) return {};
  return {"op", "op is scaled_dot_product_attention, which has no such setting", "leave it out"};
}

Override without_text(const Settled& s) {
  const InputSource source = s.scenario.inputs.source;
  return source == InputSource::text ? Override{}
                                     : by_choice("inputs.source", source, "set inputs.source=text");
}

Override without_made_inputs(const Settled& s) {
  if (s.generates(input_array_names()) || s.inputs.model_input) return {};
  return by_arrays(s, {"query", "key", "value"}, "inputs.file");
}

Override without_made_parameters(const Settled& s) {
  if (!s.has_parameters() || s.generates(parameter_array_names())) return {};
  return by_arrays(s, {"in_proj_weight", "q_proj_weight", "out_proj.weight"}, "parameters.file");
}

Override first_of(std::initializer_list<Override> overrides) {
  for (const Override& found : overrides)
    if (!found.by.empty()) return found;
  return {};
}

Override by_other_source(ParameterSource source, const char* wanted) {
  return by_choice("parameters.source", source, fmt::format("set parameters.source={}", wanted));
}

// Whether the masks that scores can be blocked by are all absent.
Override without_mask(const Settled& s) {
  const AttentionOptions& o = s.options();
  const MaskSpec& m = s.scenario.mask;
  const bool blocks = o.is_causal || o.sliding_window || m.valid_lens || m.preset || s.given("attn_mask") ||
                      s.given("key_padding_mask") || s.given("valid_lens");
  return blocks ? Override{}
                : Override{"mask", "there is no mask that blocks a key",
                           "set mask.is_causal=true, or give a mask"};
}

// A length that the arrays, a text or a mask decide.
Override by_length(const Settled& s, bool of_query) {
  const std::optional<Index>& text = of_query ? s.text.query : s.text.key;
  const Index length = of_query ? s.query_length : s.key_length;
  if (!of_query && s.self_attention && !s.given("query")) {
    const char* const by = s.text.query ? "inputs.source" : "inputs.self_attention";
    return {by, fmt::format("in self-attention the keys are the {} queries", length),
            "set inputs.self_attention=false"};
  }
  Override found = of_query ? by_array(s, "query", "inputs.file")
                            : by_arrays(s, {"key", "value", "static_k", "static_v", "query"}, "inputs.file");
  if (found.by.empty() && text)
    found = {"inputs.source", fmt::format("the text of inputs.source \"text\" has {} tokens", *text),
             "set inputs.source=random, or change the text"};
  if (found.by.empty()) found = by_arrays(s, {"attn_mask", "key_padding_mask", "valid_lens"}, "mask.file");
  return found;
}

// A row: the key, and what overrides it. Keys that only have nothing to do, and change no number when
// something else is set, are not here (attention.dropout_seed without dropout).
struct OverrideRow {
  std::string_view path;
  Override (*find)(const Settled& settled);
};

constexpr std::array rows{
    OverrideRow{"attention.embed_dim",
                [](const Settled& s) -> Override {
                  const AttentionSpec& a = s.scenario.attention;
                  if (s.scenario.op == Op::multi_head_attention || !a.head_dim ||
                      a.embed_dim == s.options().embed_dim)
                    return {};
                  return {"attention.head_dim", fmt::format("attention.head_dim is {}", *a.head_dim), ""};
                }},
    OverrideRow{"attention.kdim", without_module},
    OverrideRow{"attention.vdim", without_module},
    OverrideRow{"attention.bias", without_module},
    OverrideRow{"attention.need_weights", without_module},
    OverrideRow{"attention.average_attn_weights",
                [](const Settled& s) -> Override {
                  if (!s.scenario.attention.need_weights)
                    return {"attention.need_weights", "attention.need_weights is false",
                            "set attention.need_weights=true"};
                  return without_module(s);
                }},
    OverrideRow{"inputs.source",
                [](const Settled& s) -> Override {
                  // A text of the right length still labels the positions.
                  const bool labels = s.text.query == s.query_length;
                  return s.scenario.inputs.source == InputSource::file || labels ? Override{}
                                                                                 : without_made_inputs(s);
                }},
    OverrideRow{"inputs.seed",
                [](const Settled& s) -> Override {
                  if (s.inputs.model_input)
                    return {"parameters.source", "the model computes the inputs from the text", ""};
                  if (s.scenario.inputs.source == InputSource::ones)
                    return by_choice("inputs.source", InputSource::ones, "set inputs.source=random");
                  return without_made_inputs(s);
                }},
    OverrideRow{"inputs.text",
                [](const Settled& s) -> Override {
                  const bool labels = s.text.query == s.query_length;
                  return first_of({without_text(s), labels ? Override{} : without_made_inputs(s)});
                }},
    OverrideRow{
        "inputs.key_text",
        [](const Settled& s) -> Override {
          const Override self{"inputs.self_attention", "in self-attention the keys are the query's text",
                              "set inputs.self_attention=false"};
          return first_of({without_text(s), s.self_attention ? self : Override{}, without_made_inputs(s)});
        }},
    OverrideRow{"inputs.positions",
                [](const Settled& s) -> Override {
                  return first_of({without_text(s), without_made_inputs(s)});
                }},
    OverrideRow{"inputs.file",
                [](const Settled& s) -> Override {
                  const InputSource source = s.scenario.inputs.source;
                  return source == InputSource::file
                             ? Override{}
                             : by_choice("inputs.source", source, "set inputs.source=file");
                }},
    OverrideRow{"inputs.batch",
                [](const Settled& s) -> Override {
                  if (s.scenario.inputs.batch == s.batch) return {};
                  return first_of({by_arrays(s, {"query", "key", "value"}, "inputs.file"),
                                   by_arrays(s, {"key_padding_mask", "valid_lens"}, "mask.file")});
                }},
    OverrideRow{"inputs.query_length",
                [](const Settled& s) -> Override {
                  return s.scenario.inputs.query_length == s.query_length ? Override{} : by_length(s, true);
                }},
    OverrideRow{"inputs.key_length",
                [](const Settled& s) -> Override {
                  return s.scenario.inputs.key_length == s.key_length ? Override{} : by_length(s, false);
                }},
    OverrideRow{"inputs.self_attention",
                [](const Settled& s) -> Override {
                  if (!s.scenario.inputs.self_attention) return {};
                  return first_of({without_module(s), by_arrays(s, {"key", "value"}, "inputs.file")});
                }},
    OverrideRow{"parameters.source",
                [](const Settled& s) -> Override {
                  const ParameterSource source = s.scenario.parameters.source;
                  const bool makes = source == ParameterSource::random || source == ParameterSource::hand_made;
                  return first_of({without_module(s), makes ? without_made_parameters(s) : Override{}});
                }},
    OverrideRow{"parameters.layout",
                [](const Settled& s) -> Override {
                  const bool packed = s.scenario.parameters.layout == ProjectionLayout::packed;
                  if (s.scenario.op == Op::multi_head_attention &&
                      packed == (s.inputs.attention.tensors.in_proj_weight != nullptr))
                    return {};
                  if (s.scenario.op == Op::multi_head_attention && !s.has_parameters()) return {};
                  return first_of(
                      {without_module(s),
                       by_arrays(s, {"in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"},
                                 "parameters.source"),
                       Override{"attention.kdim", "kdim and vdim are not both embed_dim", ""}});
                }},
    OverrideRow{
        "parameters.init",
        [](const Settled& s) -> Override {
          const ParameterSource source = s.scenario.parameters.source;
          const bool draws = source == ParameterSource::random || s.generates(parameter_array_names());
          return first_of(
              {without_module(s),
               draws && source != ParameterSource::hand_made ? Override{} : by_other_source(source, "random"),
               without_made_parameters(s)});
        }},
    OverrideRow{
        "parameters.seed",
        [](const Settled& s) -> Override {
          const ParametersSpec& p = s.scenario.parameters;
          const bool reads = p.source == ParameterSource::file || p.source == ParameterSource::model;
          const bool identity = p.source == ParameterSource::random && p.init == Initialisation::identity;
          return first_of(
              {without_module(s),
               reads && !s.generates(parameter_array_names()) ? by_other_source(p.source, "random") : Override{},
               identity ? by_choice("parameters.init", p.init) : Override{}, without_made_parameters(s)});
        }},
    OverrideRow{"parameters.file",
                [](const Settled& s) -> Override {
                  const ParameterSource source = s.scenario.parameters.source;
                  const bool reads = source == ParameterSource::file || source == ParameterSource::model;
                  return first_of({without_module(s), reads ? Override{} : by_other_source(source, "file")});
                }},
    OverrideRow{"parameters.layer",
                [](const Settled& s) -> Override {
                  const ParameterSource source = s.scenario.parameters.source;
                  return first_of({without_module(s), source == ParameterSource::model
                                                          ? Override{}
                                                          : by_other_source(source, "model")});
                }},
    OverrideRow{"mask.is_causal",
                [](const Settled& s) -> Override {
                  if (s.scenario.mask.is_causal || !s.options().is_causal) return {};
                  return {"mask.preset", "mask.preset is causal", "set mask.preset=null"};
                }},
    OverrideRow{"mask.causal_alignment",
                [](const Settled& s) -> Override {
                  const AttentionOptions& o = s.options();
                  const bool placed = o.is_causal || o.sliding_window || o.alibi || s.scenario.mask.preset ||
                                      o.rotary_base || !o.rotary_inverse_frequencies.empty();
                  return placed ? Override{}
                                : Override{"mask.is_causal", "no mask and no positions depend on it",
                                           "set mask.is_causal=true"};
                }},
    OverrideRow{"mask.valid_lens", [](const Settled& s) { return by_array(s, "valid_lens", "mask.file"); }},
    OverrideRow{"mask.alibi_scale",
                [](const Settled& s) -> Override {
                  return s.options().alibi
                             ? Override{}
                             : Override{"mask.alibi", "mask.alibi is false", "set mask.alibi=true"};
                }},
    OverrideRow{"mask.value", without_mask},
    OverrideRow{"mask.fully_masked_rows", without_mask}};

// Lengths are compared with what came out, not with their defaults.
bool is_length(std::string_view path) {
  return path == "inputs.batch" || path == "inputs.query_length" || path == "inputs.key_length";
}

Json value_of(const Json& scenario, std::string_view path) {
  const std::size_t dot = path.find('.');
  return scenario.at(std::string(path.substr(0, dot))).at(std::string(path.substr(dot + 1)));
}

Json complete_json(const Scenario& scenario) {
  return json_of(scenario_to_json(scenario, true));
}

}  // namespace

std::vector<std::string> overridden_settings(const Scenario& scenario, const ScenarioInputs& inputs,
                                             const WrittenByUser& written) {
  const TraceTensors& t = inputs.attention.tensors;
  const AttentionSizes sizes = attention_sizes(inputs.attention);
  const bool module = scenario.op == Op::multi_head_attention;
  const Settled settled{scenario,
                        inputs,
                        written,
                        text_lengths(scenario.inputs, inputs.model_input.get()),
                        sizes.batch,
                        sizes.queries,
                        t.key->shape().size(module ? 1 : 2),
                        module && t.key == t.query};
  std::vector<std::string> notes;
  for (const OverrideRow& row : rows) {
    const std::string path(row.path);
    const bool on_command_line = written.settings.contains(path);
    if (!on_command_line && !written.file.contains(path)) continue;
    const Override found = row.find(settled);
    const bool knowingly = found.by == input_option || written.settings.contains(found.by);
    if (found.by.empty() || (knowingly && !on_command_line)) continue;
    const Json value = value_of(complete_json(scenario), path);
    // In a file a key may be written out although it changes nothing.
    const bool is_default = value == value_of(complete_json(Scenario()), path);
    if (value.is_null() || (is_default && !on_command_line && !is_length(path))) continue;
    notes.push_back(fmt::format("{} = {} is not used, because {}: {}", path, one_line(json_text(value), 60),
                                found.why, found.remedy.empty() ? "leave one of the two out" : found.remedy));
  }
  return notes;
}

}  // namespace headwise
