#include "core/scenario/layer_scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/file_paths.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

const AttentionLayer& layer_at(const std::string& path, const AttentionLayers& layers, Index layer) {
  const auto count = static_cast<Index>(layers.layers.size());
  if (count == 0) {
    throw Error(ExitStatus::input, {path, "no attention layer was recognised in this model", "",
                                    "array names as in PyTorch, BERT, GPT-2, Llama, ViT, T5 and others",
                                    fmt::format("headwise info {} lists its arrays", path)});
  }
  if (layer < 0 || layer >= count) {
    throw Error(ExitStatus::input,
                {path, "the model has no such layer", fmt::format("parameters.layer = {}", layer),
                 fmt::format("0 to {}", count - 1), ""});
  }
  return layers.layers[static_cast<std::size_t>(layer)];
}

// If no layer is recognised because files are missing, reports that as the cause.
void refuse_missing_files(const std::string& path) {
  const std::vector<std::string> missing = ModelFiles(path).missing_files();
  if (missing.empty()) return;
  const std::string more = missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : "";
  throw Error(ExitStatus::input,
              {path, "files named in the index are missing", missing[0] + more,
               "all of them next to the index", "download them from where the model is published"});
}

// The example that a model of `headwise train` has beside it; else a sentence; else words that the model knows.
std::string text_to_open_with(const TextModel& model) {
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

Index first_sound_layer(const AttentionLayers& layers) {
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    const AttentionLayer& layer = layers.layers[i];
    if (layer.num_heads ? layer_problem(layer).empty() : likeliest_heads(layer).has_value())
      return static_cast<Index>(i);
  }
  return 0;
}

Scenario layer_scenario(const std::string& path, const AttentionLayers& layers, Index number) {
  AttentionLayer layer = layer_at(path, layers, number);
  if (!layer.num_heads) {
    const HeadChoice heads = likeliest_heads(layer).value_or(HeadChoice{});
    layer = with_heads(layer, heads.num_heads, heads.num_kv_heads);
  }
  if (const std::string problem = layer_problem(layer); !problem.empty()) {
    throw Error(ExitStatus::input, {path, "this layer cannot be computed: " + problem, "", "",
                                    fmt::format("headwise info {} shows what is there", path)});
  }
  Scenario scenario;
  AttentionSpec& a = scenario.attention;
  const Index heads = *layer.num_heads, kv_heads = *layer.num_kv_heads;
  const Index head_dim = layer.q_rows / heads, v_head_dim = layer.v_rows / kv_heads;
  a.embed_dim = layer.query_width;
  set_heads(a, {heads, kv_heads, head_dim, v_head_dim});
  if (layer.key_width != layer.query_width) a.kdim = a.vdim = layer.key_width;
  a.bias = layer.has_bias;
  a.add_bias_kv = layer.has_bias_kv;
  const LayerAttention attention = layer_attention(layer);
  a.scale = attention.scale;
  a.softcap = attention.softcap;
  a.clip_qkv = attention.clip_qkv;
  if (attention.rotary) {
    if (is_plain_rotary(*attention.rotary, head_dim))
      a.rotary_base = attention.rotary->base;
    else
      a.rotary_inverse_frequencies = rotary_inverse_frequencies(*attention.rotary, head_dim);
  }
  scenario.mask.is_causal = attention.is_causal;
  scenario.mask.sliding_window = attention.sliding_window;
  scenario.mask.alibi = attention.alibi;
  scenario.mask.alibi_scale = attention.alibi_scale;
  scenario.inputs.self_attention = layer.key_width == layer.query_width && !layer.is_cross;
  scenario.parameters.source = ParameterSource::model;
  scenario.parameters.layout = layer.packed_rows > 0 ? ProjectionLayout::packed : ProjectionLayout::separate;
  scenario.parameters.file = path;
  scenario.parameters.layer = number;
  scenario.origin.layer = std::make_shared<const Scenario>(scenario);
  return scenario;
}

Scenario opened_model_scenario(const std::string& path, const AttentionLayers& layers) {
  if (layers.layers.empty()) refuse_missing_files(path);
  Scenario scenario = layer_scenario(path, layers, first_sound_layer(layers));
  if (!scenario.inputs.self_attention || !TextModel::open(path)->no_text().empty()) return scenario;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = text_to_open_with(*TextModel::open(path));
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
  if (!layer.num_heads || (layer.num_heads == o.num_heads && layer.num_kv_heads == o.num_kv_heads)) return "";
  return fmt::format("trained with {} heads of {}; split differently here, as {} of {}",
                     counted(*layer.num_heads, *layer.num_kv_heads), layer.q_rows / *layer.num_heads,
                     counted(o.num_heads, o.num_kv_heads), o.head_dim);
}

}  // namespace headwise
