#include "core/scenario/overridden_settings.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/tensor_names.h"
#include "core/files/json_text.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t input_count = 10, parameter_count = 30;

std::string drawn(std::string_view distribution, std::uint64_t seed) {
  return fmt::format("drawn at random ({}, seed {})", distribution, seed);
}

std::string made_parameter_text(std::string_view name, const ParametersSpec& parameters) {
  const bool row = name == "bias_k" || name == "bias_v";  // appended to k and v, and not a bias of a projection
  if (!row && name.ends_with("bias")) return "all zeros";
  if (name == "relative_attention_bias.weight") return drawn("normal", parameters.seed);
  if (!row && !name.starts_with("indexer.") && parameters.source == ParameterSource::hand_made)
    return "as in the hand-made heads";
  if (parameters.init == Initialisation::identity) return row ? "all zeros" : "an identity matrix";
  return drawn(choice_name(parameters.init), parameters.seed);
}

std::string made_input_text(const InputsSpec& inputs) {
  if (inputs.source == InputSource::text)
    return "made from the text, or drawn at random where the lengths differ";
  if (inputs.source == InputSource::ones) return "all ones";
  return drawn(inputs.source == InputSource::uniform01 ? "uniform from 0 to 1" : "normal", inputs.seed);
}

constexpr const char* input_option = "--input";

// What overrides a key; nothing does if `by` is empty.
struct Override {
  std::string by;      // a key, or --input
  std::string why;     // "inputs.source is ones"
  std::string remedy;  // empty: leave one of the two out
};

// Nothing if the key has its effect.
Override unless(bool has_effect, Override otherwise) {
  return has_effect ? Override{} : std::move(otherwise);
}

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
  bool is_module() const { return projects(scenario.op); }
  InputSource source() const { return scenario.inputs.source; }
  ParameterSource parameters() const { return scenario.parameters.source; }
  bool reads_parameters() const {
    return parameters() == ParameterSource::file || parameters() == ParameterSource::model;
  }
  // A text of the right length labels the positions, whatever replaces its embeddings.
  bool text_labels() const { return text.query == query_length; }
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
  return unless(s.is_module(),
                {"op", "op is scaled_dot_product_attention, which has no such setting", "leave it out"});
}

Override by_source(const Settled& s, const char* wanted) {
  return by_choice("inputs.source", s.source(), fmt::format("set inputs.source={}", wanted));
}

Override without_text(const Settled& s) {
  return unless(s.source() == InputSource::text, by_source(s, "text"));
}

Override without_made_inputs(const Settled& s) {
  if (s.generates(input_array_names()) || s.inputs.model_input) return {};
  return by_arrays(s, {"query", "key", "value"}, "inputs.file");
}

Override without_made_parameters(const Settled& s) {
  if (!s.has_parameters() || s.generates(parameter_array_names())) return {};
  return by_arrays(s, {"in_proj_weight", "q_proj_weight", "kv_a_proj_with_mqa.weight", "out_proj.weight"},
                   "parameters.file");
}

Override first_of(std::initializer_list<Override> overrides) {
  for (const Override& found : overrides)
    if (!found.by.empty()) return found;
  return {};
}

Override by_other_source(const Settled& s, const char* wanted) {
  return by_choice("parameters.source", s.parameters(), fmt::format("set parameters.source={}", wanted));
}

// Another value than the default is refused; the default has no effect either.
Override without_latents(const Settled& s, unsigned traits) {
  return unless(
      (traits & latent_only) == 0 || is_latent(s.scenario.op),
      {"op", fmt::format("op is {}, which has no such setting", choice_name(s.scenario.op)), "leave it out"});
}

// What an option needs and does not find.
Override without(const Settled& s, OptionNeed need) {
  const AttentionOptions& o = s.options();
  const TraceTensors& t = s.inputs.attention.tensors;
  switch (need) {
    case OptionNeed::nothing:
      break;
    case OptionNeed::rotary_embedding:
      return unless(has_rotary_embedding(o),
                    {"attention.rotary_base", "nothing is rotated (attention.rotary_base is null)",
                     "set attention.rotary_base=10000, or leave it out"});
    case OptionNeed::qk_norm:
      return unless(o.qk_norm.has_value(),
                    {"attention.qk_norm", "attention.qk_norm is null",
                     is_latent(o) || !s.is_module() ? "leave it out" : "set attention.qk_norm=per_head"});
    case OptionNeed::qk_norm_weights:
      return first_of({without(s, OptionNeed::qk_norm),
                       unless(t.q_norm_weight || t.k_norm_weight,
                              {"q_norm.weight", "neither q_norm.weight nor k_norm.weight is given",
                               "give one of them, or leave qk_norm_offset out"})});
    case OptionNeed::alibi:
      return unless(o.alibi, {"mask.alibi", "mask.alibi is false", "set mask.alibi=true"});
  }
  return {};
}

// Whether the masks that scores can be blocked by are all absent.
Override without_mask(const Settled& s) {
  const AttentionOptions& o = s.options();
  const MaskSpec& m = s.scenario.mask;
  const bool blocks = seen_by_position(o).bounds() || m.valid_lens || m.preset || s.given("attn_mask") ||
                      s.given("key_padding_mask") || s.given("valid_lens") || s.given("nonpad_kv_seqlen");
  return unless(blocks,
                {"mask", "there is no mask that blocks a key", "set mask.is_causal=true, or give a mask"});
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
    found = {"inputs.source",
             fmt::format("the {0} of inputs.source \"{0}\" has {1} tokens", choice_name(s.source()), *text),
             s.source() == InputSource::text ? "set inputs.source=random, or change the text"
                                             : "set inputs.source=random"};
  if (found.by.empty()) found = by_arrays(s, {"attn_mask", "key_padding_mask", "valid_lens"}, "mask.file");
  return found;
}

// A row: the key, and what overrides it. Keys that only have nothing to do, and change no number when
// something else is set, are not here (attention.dropout_seed without dropout). Options that need another one
// say so where they are declared (OptionNeed).
struct OverrideRow {
  std::string_view path;
  Override (*find)(const Settled& settled);
};

constexpr auto rows = std::to_array<OverrideRow>({
    {"attention.embed_dim",
     [](const Settled& s) {
       const AttentionSpec& a = s.scenario.attention;
       const bool decides = s.is_module() || !a.head_dim || a.embed_dim == s.options().embed_dim;
       return unless(decides, {"attention.head_dim",
                               fmt::format("attention.head_dim is {}", a.head_dim.value_or(0)), ""});
     }},
    {"attention.kdim", without_module},
    {"attention.vdim", without_module},
    {"attention.bias", without_module},
    {"attention.need_weights", without_module},
    {"attention.average_attn_weights",
     [](const Settled& s) {
       return first_of({unless(s.scenario.attention.need_weights,
                               {"attention.need_weights", "attention.need_weights is false",
                                "set attention.need_weights=true"}),
                        without_module(s)});
     }},
    {"inputs.source",
     [](const Settled& s) {
       return unless(s.source() == InputSource::file || s.text_labels(), without_made_inputs(s));
     }},
    {"inputs.seed",
     [](const Settled& s) {
       return first_of({unless(!s.inputs.model_input, {"parameters.source",
                                                       s.source() == InputSource::picture
                                                           ? "the model computes the inputs from the picture"
                                                           : "the model computes the inputs from the text",
                                                       ""}),
                        unless(s.source() != InputSource::ones, by_source(s, "random")),
                        without_made_inputs(s)});
     }},
    {"inputs.text",
     [](const Settled& s) {
       return first_of({without_text(s), unless(s.text_labels(), without_made_inputs(s))});
     }},
    {"inputs.key_text",
     [](const Settled& s) {
       return first_of({without_text(s),
                        unless(!s.self_attention,
                               {"inputs.self_attention", "in self-attention the keys are the query's text",
                                "set inputs.self_attention=false"}),
                        without_made_inputs(s)});
     }},
    {"inputs.positions",
     [](const Settled& s) {
       return first_of({without_text(s), without_made_inputs(s)});
     }},
    {"inputs.file",
     [](const Settled& s) { return unless(s.source() == InputSource::file, by_source(s, "file")); }},
    {"inputs.picture",
     [](const Settled& s) {
       return first_of({unless(s.source() == InputSource::picture, by_source(s, "picture")),
                        unless(s.text_labels(), without_made_inputs(s))});
     }},
    {"inputs.batch",
     [](const Settled& s) {
       return unless(s.scenario.inputs.batch == s.batch,
                     first_of({by_arrays(s, {"query", "key", "value"}, "inputs.file"),
                               by_arrays(s, {"key_padding_mask", "valid_lens"}, "mask.file")}));
     }},
    {"inputs.query_length",
     [](const Settled& s) {
       return unless(s.scenario.inputs.query_length == s.query_length, by_length(s, true));
     }},
    {"inputs.key_length",
     [](const Settled& s) { return unless(s.scenario.inputs.key_length == s.key_length, by_length(s, false)); }},
    {"inputs.past_length",
     [](const Settled& s) {
       return unless(
           s.scenario.inputs.past_length == s.options().past_length.value_or(0),
           by_arrays(s, {"past_key", "past_value", "past_compressed_kv", "past_k_rot"}, "inputs.file"));
     }},
    {"inputs.self_attention",
     [](const Settled& s) {
       return unless(!s.scenario.inputs.self_attention,
                     first_of({without_module(s), by_arrays(s, {"key", "value"}, "inputs.file")}));
     }},
    {"parameters.source",
     [](const Settled& s) {
       return first_of({without_module(s), unless(s.reads_parameters(), without_made_parameters(s))});
     }},
    {"parameters.layout",
     [](const Settled& s) {
       if (is_latent(s.scenario.op))
         return Override{"op", "multi_head_latent_attention has matrices of its own", "leave it out"};
       const bool packed = s.scenario.parameters.layout == ProjectionLayout::packed,
                  is_packed = s.inputs.attention.tensors.in_proj_weight != nullptr;
       return unless(
           s.is_module() && (packed == is_packed || !s.has_parameters()),
           first_of({without_module(s),
                     by_arrays(s, {"in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"},
                               "parameters.source"),
                     {"attention.kdim", "kdim and vdim are not both embed_dim", ""}}));
     }},
    {"parameters.init",
     [](const Settled& s) {
       const ParameterSource source = s.parameters();
       const bool draws = source == ParameterSource::random || s.generates(parameter_array_names());
       return first_of({without_module(s),
                        unless(draws && source != ParameterSource::hand_made, by_other_source(s, "random")),
                        without_made_parameters(s)});
     }},
    {"parameters.seed",
     [](const Settled& s) {
       const Initialisation init = s.scenario.parameters.init;
       const bool identity = s.parameters() == ParameterSource::random && init == Initialisation::identity;
       return first_of({without_module(s),
                        unless(!s.reads_parameters() || s.generates(parameter_array_names()),
                               by_other_source(s, "random")),
                        unless(!identity, by_choice("parameters.init", init)), without_made_parameters(s)});
     }},
    {"parameters.file",
     [](const Settled& s) {
       return first_of({without_module(s), unless(s.reads_parameters(), by_other_source(s, "file"))});
     }},
    {"parameters.layer",
     [](const Settled& s) {
       return first_of({without_module(s),
                        unless(s.parameters() == ParameterSource::model, by_other_source(s, "model"))});
     }},
    {"mask.is_causal",
     [](const Settled& s) {
       return unless(s.scenario.mask.is_causal || !s.options().is_causal,
                     {"mask.preset", "mask.preset is causal", "set mask.preset=null"});
     }},
    {"mask.causal_alignment",
     [](const Settled& s) {
       const AttentionOptions& o = s.options();
       const bool placed = depends_on_distance(o) || s.scenario.mask.preset || o.rotary_base ||
                           !o.rotary_inverse_frequencies.empty();
       return unless(placed,
                     {"mask.is_causal", "no mask and no positions depend on it", "set mask.is_causal=true"});
     }},
    {"attention.sink", [](const Settled& s) { return by_array(s, "sinks", "parameters.file"); }},
    {"mask.valid_lens", [](const Settled& s) { return by_array(s, "valid_lens", "mask.file"); }},
    {"mask.value", without_mask},
    {"mask.fully_masked_rows", without_mask},
});

// Lengths are compared with what came out, not with their defaults.
bool is_length(std::string_view path) {
  return path == "inputs.batch" || path == "inputs.query_length" || path == "inputs.key_length" ||
         path == "inputs.past_length";
}

Json value_of(const Json& scenario, std::string_view path) {
  const std::size_t dot = path.find('.');
  return scenario.at(std::string(path.substr(0, dot))).at(std::string(path.substr(dot + 1)));
}

Json complete_json(const Scenario& scenario) {
  return json_of(scenario_to_json(scenario, true));
}

}  // namespace

std::span<const std::string_view> input_array_names() {
  return given_array_names().first(input_count);
}

std::span<const std::string_view> parameter_array_names() {
  return given_array_names().subspan(input_count, parameter_count);
}

ArrayOrigin array_origin(const ScenarioInputs& inputs, std::string_view name) {
  const auto made = inputs.made.find(std::string(name));
  if (made == inputs.made.end() || (name == "query" && inputs.model_input)) return ArrayOrigin::absent;
  return made->second.recipe.starts_with(given_recipe) ? ArrayOrigin::given : ArrayOrigin::generated;
}

bool is_foreign_name(const std::string& name) {
  const auto known = find_tensor_name(name);
  if (known && (known->gradient || tensor_entry(known->id).role == TensorRole::intermediate)) return false;
  return std::ranges::count(given_array_names(), name) == 0;
}

std::string nearest_given_name(const std::string& name) {
  for (const auto& [letters, meant] : {std::pair("Qq", "query"), {"Kk", "key"}, {"Vv", "value"}})
    if (name.size() == 1 && std::string_view(letters).find(name[0]) != std::string_view::npos) return meant;
  const auto names = given_array_names();
  for (const std::string_view own : names)
    if (name.ends_with(fmt::format(".{}", own))) return std::string(own);
  return nearest_name(name, {names.begin(), names.end()});
}

std::vector<MadeUpArray> made_up_arrays(const Scenario& scenario, const ScenarioInputs& inputs,
                                        const GivenArrays& given) {
  std::vector<MadeUpArray> made_up;
  const bool foreign =
      std::ranges::any_of(given, [](const auto& array) { return is_foreign_name(array.first); });
  const auto add = [&](std::span<const std::string_view> kind, const auto& how) {
    const auto is = [&](ArrayOrigin origin) {
      return [&inputs, origin](std::string_view name) { return array_origin(inputs, name) == origin; };
    };
    if (!foreign && std::ranges::none_of(kind, is(ArrayOrigin::given))) return;
    for (const std::string_view name : kind)
      if (is(ArrayOrigin::generated)(name)) made_up.push_back({std::string(name), how(name)});
  };
  add(input_array_names(), [&](std::string_view) { return made_input_text(scenario.inputs); });
  add(parameter_array_names(),
      [&](std::string_view name) { return made_parameter_text(name, scenario.parameters); });
  return made_up;
}

std::vector<std::string> overridden_settings(const Scenario& scenario, const ScenarioInputs& inputs,
                                             const WrittenByUser& written) {
  const TraceTensors& t = inputs.attention.tensors;
  const AttentionSizes sizes = attention_sizes(inputs.attention);
  const bool module = projects(scenario.op);
  const Settled settled{scenario,
                        inputs,
                        written,
                        text_lengths(scenario.inputs, inputs.model_input.get()),
                        sizes.batch,
                        sizes.queries,
                        t.key->shape().size(module ? 1 : 2),
                        module && t.key == t.query};
  std::vector<std::string> notes;
  const auto add = [&](const std::string& path, auto&& find) {
    const bool on_command_line = written.settings.contains(path);
    if (!on_command_line && !written.file.contains(path)) return;
    const Override found = find(settled);
    const bool knowingly = found.by == input_option || written.settings.contains(found.by);
    if (found.by.empty() || (knowingly && !on_command_line)) return;
    const Json value = value_of(complete_json(scenario), path);
    // In a file a key may be written out although it changes nothing.
    const bool is_default = value == value_of(complete_json(Scenario()), path);
    if (value.is_null() || (is_default && !on_command_line && !is_length(path))) return;
    notes.push_back(fmt::format("{} = {} is not used, because {}: {}", path, one_line(json_text(value), 60),
                                found.why, found.remedy.empty() ? "leave one of the two out" : found.remedy));
  };
  for (const OverrideRow& row : rows) add(std::string(row.path), row.find);
  const auto of_section = [&](const std::string& section) {
    return [&add, section](const OptionRow& row, auto, const auto&...) {
      add(key_path(section, row.key), [&row](const Settled& s) {
        return first_of({without_latents(s, row.traits), without(s, row.needs)});
      });
    };
  };
  visit_layer_options(of_section("attention"));
  visit_position_options(of_section("mask"));
  return notes;
}

}  // namespace headwise
