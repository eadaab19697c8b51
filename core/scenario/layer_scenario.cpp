#include "core/scenario/layer_scenario.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

const AttentionLayer& layer_at(const std::string& path, const AttentionLayers& layers, Index layer) {
  const auto count = static_cast<Index>(layers.layers.size());
  if (count == 0)
    refuse_input(path, "no attention layer was recognised in this model", "",
                 "array names as in PyTorch, BERT, GPT-2, Llama, ViT, T5 and others",
                 fmt::format("headwise info {} lists its arrays", path));
  if (layer < 0 || layer >= count)
    refuse_input(path, "the model has no such layer", fmt::format("parameters.layer = {}", layer),
                 fmt::format("0 to {}", count - 1));
  return layers.layers[static_cast<std::size_t>(layer)];
}

bool can_be_computed(const AttentionLayer& layer) {
  return layer.num_heads ? layer_problem(layer).empty() : likeliest_heads(layer).has_value();
}

// If no layer is recognised because files are missing, reports that as the cause.
void refuse_missing_files(const std::string& path) {
  const std::vector<std::string> missing = ModelFiles(path).missing_files();
  if (missing.empty()) return;
  const std::string more = missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : "";
  refuse_input(path, "files named in the index are missing", missing[0] + more,
               "all of them next to the index", "download them from where the model is published");
}

// The example that a model of `headwise train` has beside it; else a sentence;
// else words that the model knows.
std::string initial_text(const TextModel& model) {
  constexpr Index most_words = 8;
  if (!model.task().example.empty()) return model.task().example;
  const std::string sentence = "The animal didn't cross the street because it was too tired.";
  const Tokenizer& tokenizer = *model.tokenizer();
  const auto has_id = [](const EncodedToken& token) { return token.id != no_token; };
  if (std::ranges::all_of(tokenizer.encode(sentence), has_id)) return sentence;
  const Index count = std::min(most_words, model.transformer()->config().max_positions);
  std::vector<TokenId> words;
  for (TokenId id = 0; id < tokenizer.vocabulary().end() && std::ssize(words) < count; ++id)
    if (tokenizer.vocabulary().contains(id)) words.push_back(id);
  return tokenizer.decode(words);
}

// Beside the options that a layer sets.
constexpr std::string_view layer_paths[]{"attention.embed_dim",      "attention.num_heads",
                                         "attention.num_kv_heads",   "attention.kdim",
                                         "attention.vdim",           "attention.head_dim",
                                         "attention.v_head_dim",     "attention.bias",
                                         "attention.add_bias_kv",    "inputs.self_attention",
                                         "parameters.layout",        "attention.rotary_inverse_frequencies",
                                         "attention.rotary_scaling", "op"};

// Calls f(path, member of a, member of b) for every key that a layer determines.
template <class A, class F>
void for_layer_keys(A& a, const Scenario& b, F&& f) {
  for_key_pairs(a, b, [&](const std::string& path, auto& member, const auto& other) {
    if (is_layer_key(path)) f(path, member, other);
  });
}

// Keys that only make sense together: if one of them is set, the layer determines neither.
constexpr std::string_view rotary_paths[]{"attention.rotary_base", "attention.rotary_inverse_frequencies"};

bool is_head_size(std::string_view path) {
  return std::ranges::find(head_size_paths, path) != std::end(head_size_paths);
}

struct OpenedLayer {
  std::shared_ptr<const TextModel> model;
  std::string path;
  const AttentionLayer* layer = nullptr;  // null: there is no such layer
};

OpenedLayer opened_layer(const Scenario& scenario) {
  OpenedLayer opened;
  opened.path = path_from(scenario.origin.folder, *scenario.parameters.file);
  opened.model = TextModel::open(opened.path);
  const std::vector<AttentionLayer>& layers = opened.model->layers().layers;
  const std::int64_t number = scenario.parameters.layer;
  if (number >= 0 && number < static_cast<std::int64_t>(layers.size()))
    opened.layer = &layers[static_cast<std::size_t>(number)];
  return opened;
}

template <class T>
requires std::is_arithmetic_v<T> std::string value_text(T value) {
  return fmt::format("{}", value);
}

std::string value_text(const std::vector<double>& values) {
  return fmt::format("[{}, …]", values.empty() ? 0.0 : values.front());
}

template <class T>
requires requires(const T& value) {
  value_text(value);
}
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "null";
}

// The keys that change numbers and in which the scenario differs from the layer.
// Heads have a sentence of their own.
std::string differences_sentence(const Scenario& scenario, const Scenario& layer) {
  std::vector<std::string> different;
  for_layer_keys(scenario, layer, [&](std::string_view path, const auto& ours, const auto& theirs) {
    if constexpr (requires { value_text(ours); }) {
      const bool size = path.ends_with("dim") || path.ends_with("_heads") || path == "attention.bias";
      const bool by_preset = path == "mask.is_causal" && scenario.mask.preset == "causal";
      if (size || by_preset || ours == theirs) return;
      different.push_back(fmt::format("{} = {} (the layer has {})", path, value_text(ours), value_text(theirs)));
    }
  });
  return different.empty() ? "" : fmt::format("differs from the model's layer: {}", join(different, ", "));
}

}  // namespace

bool is_of_model(const Scenario& scenario) {
  return scenario.parameters.source == ParameterSource::model && scenario.parameters.file.has_value();
}

bool names_a_model(const Scenario& scenario) {
  return scenario.parameters.file && scenario.parameters.source != ParameterSource::file;
}

AttentionLayer layer_of_scenario(const Scenario& scenario, const std::string& path,
                                 const AttentionLayers& layers) {
  const AttentionLayer& layer = layer_at(path, layers, scenario.parameters.layer);
  if (layer.num_heads) return layer;
  const AttentionSpec& a = scenario.attention;
  return with_heads(layer, a.num_heads, a.num_kv_heads.value_or(a.num_heads));
}

Index first_usable_layer(const AttentionLayers& layers) {
  const auto found = std::ranges::find_if(layers.layers, can_be_computed);
  return found == layers.layers.end() ? 0 : found - layers.layers.begin();
}

Scenario layer_scenario(const std::string& path, const AttentionLayers& layers, Index number) {
  AttentionLayer layer = layer_at(path, layers, number);
  if (!layer.num_heads) {
    const HeadChoice heads = likeliest_heads(layer).value_or(HeadChoice{});
    layer = with_heads(layer, heads.num_heads, heads.num_kv_heads);
  }
  if (const std::string problem = layer_problem(layer); !problem.empty())
    refuse_input(path, "this layer cannot be computed: " + problem, "", "",
                 fmt::format("headwise info {} shows what is there", path));
  Scenario scenario;
  AttentionSpec& a = scenario.attention;
  const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads;
  const Index head_dim = layer.q_rows / heads, v_head_dim = layer.v_rows / kv_heads;
  a.embed_dim = layer.query_width;
  const bool latents = layer.layout == AttentionLayout::latent;
  if (latents) {
    scenario.op = Op::multi_head_latent_attention;
    a.num_heads = heads;
    a.v_head_dim = v_head_dim;
  } else {
    set_heads(a, {heads, kv_heads, head_dim, v_head_dim});
  }
  if (layer.key_width != layer.query_width) a.kdim = a.vdim = layer.key_width;
  a.bias = layer.has_bias;
  a.add_bias_kv = layer.has_bias_kv;
  const LayerAttention attention = layer_attention(layer);
  static_cast<LayerOptions&>(a) = attention;
  static_cast<PositionOptions&>(scenario.mask) = attention;
  if (attention.rotary) {
    const ModelRotary& rotary = *attention.rotary;
    a.rotary_pairs = rotary.pairs;
    const Index rotated = latents ? layer.qk_rope_head_dim : head_dim;
    const bool has_all = rotary_width(rotary, rotated) == rotated;
    if ((has_all || rotary.scaling) && !rotary.backwards) {
      a.rotary_base = rotary.base;
      a.rotary_scaling = rotary.scaling;
      if (!has_all) a.rotary_scaling->partial_rotary_factor = rotary.share;
    } else {
      const Rotation rotation = model_rotation(rotary, rotated);
      a.rotary_inverse_frequencies = rotation.inverse_frequencies;
      a.rotary_factor = rotation.factor;
    }
  }
  scenario.inputs.self_attention = layer.key_width == layer.query_width && !layer.is_cross;
  scenario.parameters.source = ParameterSource::model;
  scenario.parameters.layout = layer.packed_rows > 0 ? ProjectionLayout::packed : ProjectionLayout::separate;
  scenario.parameters.file = path;
  scenario.parameters.layer = number;
  scenario.origin.layer = std::make_shared<const Scenario>(scenario);
  return scenario;
}

Scenario opened_model_scenario(const std::string& path, const AttentionLayers& layers,
                               std::optional<Index> asked) {
  if (layers.layers.empty()) refuse_missing_files(path);
  const std::shared_ptr<const TextModel> model = TextModel::open(path);
  const bool reads_text = model->no_text().empty();
  const Index reached = reads_text ? model->transformer()->first_layer() : 0;
  const Index first = first_usable_layer(layers);
  const bool none_usable = std::ranges::none_of(layers.layers, can_be_computed);
  Scenario scenario = layer_scenario(path, layers, none_usable && asked ? *asked : std::max(first, reached));
  if (!scenario.inputs.self_attention || !reads_text) return scenario;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = initial_text(*model);
  for (const Preset& preset : presets()) {  // built-in models: one whose words they know
    const Scenario known = preset_scenario(preset.name);
    if (is_of_model(known) && known.parameters.file == path) scenario.inputs.text = known.inputs.text;
  }
  return scenario;
}

void set_heads(AttentionSpec& a, const HeadChoice& heads) {
  const auto unless = [](bool follows, Index value) {
    return follows ? std::optional<std::int64_t>() : std::optional<std::int64_t>(value);
  };
  a.num_heads = heads.num_heads;
  a.num_kv_heads = unless(heads.num_kv_heads == heads.num_heads, heads.num_kv_heads);
  a.head_dim = unless(heads.head_dim * heads.num_heads == a.embed_dim, heads.head_dim);
  a.v_head_dim = unless(heads.v_head_dim == heads.head_dim, heads.v_head_dim);
}

bool heads_are_assumed(const Scenario& scenario, const AttentionLayer& layer) {
  return !layer.num_heads && !scenario.origin.written.contains(num_heads_path);
}

std::string head_count_note(const Scenario& scenario, const AttentionLayer& layer, const AttentionOptions& o) {
  const auto counted = [](Index heads, Index kv_heads) {
    return fmt::format("{}{}", heads, kv_heads == heads ? "" : fmt::format(" ({} for k and v)", kv_heads));
  };
  if (heads_are_assumed(scenario, layer)) {
    return fmt::format(
        "no config.json gives the number of heads of this layer: assuming {} of {}; set {} to the right "
        "number",
        counted(o.num_heads, o.num_kv_heads), o.head_dim, num_heads_path);
  }
  const bool same_keys = is_absorbed(o) || layer.num_kv_heads == o.num_kv_heads;  // absorbed, all read one
  if (!layer.num_heads || (layer.num_heads == o.num_heads && same_keys)) return "";
  return fmt::format("trained with {} heads of {}; split differently here, as {} of {}",
                     counted(*layer.num_heads, *layer.num_kv_heads), layer.q_rows / *layer.num_heads,
                     counted(o.num_heads, o.num_kv_heads), o.head_dim);
}

bool is_layer_key(std::string_view path) {
  static const std::set<std::string, std::less<>> paths = [] {
    std::set<std::string, std::less<>> all(std::begin(layer_paths), std::end(layer_paths));
    const auto add_to = [&](const char* section) {
      return [&all, section](const OptionRow& row, auto) { all.insert(key_path(section, row.key)); };
    };
    for_options_with<LayerOptions>(set_by_layer, add_to("attention"));
    for_options_with<PositionOptions>(set_by_layer, add_to("mask"));
    return all;
  }();
  return paths.contains(path);
}

std::set<std::string> own_keys_of(const Scenario& scenario) {
  const Scenario defaults;
  const Scenario& base = scenario.origin.layer ? *scenario.origin.layer : defaults;
  std::set<std::string> own;
  for_layer_keys(scenario, base, [&](const std::string& path, const auto& value, const auto& before) {
    if (scenario.origin.written.contains(path) || value != before) own.insert(path);
  });
  if (std::ranges::any_of(rotary_paths, [&](std::string_view path) { return own.contains(std::string(path)); }))
    own.insert(std::begin(rotary_paths), std::end(rotary_paths));
  return own;
}

void copy_layer_keys(const Scenario& from, Scenario& to, const std::set<std::string>& kept) {
  for_layer_keys(to, from, [&](const std::string& path, auto& value, const auto& other) {
    if (!kept.contains(path)) value = other;
  });
}

Scenario with_layer_values(const Scenario& scenario) {
  if (!projects(scenario.op) || !is_of_model(scenario)) return scenario;
  const OpenedLayer opened = opened_layer(scenario);
  if (opened.layer == nullptr || !can_be_computed(*opened.layer)) return scenario;
  const Scenario layer = layer_scenario(opened.path, opened.model->layers(), scenario.parameters.layer);
  std::set<std::string> own = own_keys_of(scenario);
  // An unknown number of heads is not assumed if the user set key/value heads.
  if (!opened.layer->num_heads && std::ranges::any_of(own, is_head_size)) own.insert(num_heads_path);
  Scenario filled = scenario;
  const bool other_heads = own.contains(num_heads_path) && std::ranges::none_of(own, is_head_size);
  if (other_heads) own.insert(head_size_paths.begin(), head_size_paths.end());
  copy_layer_keys(layer, filled, own);
  if (other_heads) {
    if (const auto choice = choice_of_heads(*opened.layer, filled.attention.num_heads))
      set_heads(filled.attention, *choice);
  }
  filled.origin.layer = std::make_shared<const Scenario>(layer);
  return filled;
}

LayerNotes notes_on_layer(const Scenario& scenario, std::int64_t tokens) {
  LayerNotes notes;
  if (!projects(scenario.op) || !is_of_model(scenario)) return notes;
  const OpenedLayer opened = opened_layer(scenario);
  if (opened.layer == nullptr || !can_be_computed(*opened.layer)) return notes;
  const AttentionLayer layer = layer_of_scenario(scenario, opened.path, opened.model->layers());
  if (!layer_problem(layer).empty()) return notes;
  LayerAttention attention = layer_attention(layer);
  notes.not_computed = std::move(attention.warnings);
  for (LengthLimit& limit : attention.limits)
    if (tokens > limit.tokens) notes.not_computed.push_back(std::move(limit.beyond));
  notes.differences = differences_sentence(
      scenario, layer_scenario(opened.path, opened.model->layers(), scenario.parameters.layer));
  return notes;
}

}  // namespace headwise
