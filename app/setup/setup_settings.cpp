#include "app/setup/setup_settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "core/files/file_paths.h"
#include "core/model/files/sentence_patterns.h"
#include "core/scenario/layer_scenario.h"

namespace headwise {
namespace {

// What a row needs in order to be shown at all.
enum class Needs {
  nothing,
  model,
  patterns,
  text,
  key_text,
  no_text,
  other_keys,
  projections,
  groups,
  causal,
  alibi
};

struct Row {
  SetupSetting setting;
  Needs needs = Needs::nothing;
};

// The keys of scenario files (core/scenario/scenario_keys.h) that the rows set.
struct RowKey {
  std::string_view id, key;
};

constexpr RowKey row_keys[] = {
    {"setup/op", "op"},
    {"setup/text", "inputs.text"},
    {"setup/source", "inputs.source"},
    {"setup/positions", "inputs.positions"},
    {"setup/attention", "inputs.self_attention"},
    {"setup/key_text", "inputs.key_text"},
    {"setup/parameters", "parameters.source"},
    {"setup/layer", "parameters.layer"},
    {"setup/layout", "parameters.layout"},
    {"setup/gain", "heads.gain"},
    {"setup/freeze", "heads.frozen"},
    {"setup/groups", "attention.num_kv_heads"},
    {"setup/embed_dim", "attention.embed_dim"},
    {"setup/num_heads", "attention.num_heads"},
    {"setup/head_dim", "attention.head_dim"},
    {"setup/num_kv_heads", "attention.num_kv_heads"},
    {"setup/batch", "inputs.batch"},
    {"setup/query_length", "inputs.query_length"},
    {"setup/key_length", "inputs.key_length"},
    {"setup/causal", "mask.is_causal"},
    {"setup/alignment", "mask.causal_alignment"},
    {"setup/preset", "mask.preset"},
    {"setup/valid_length", "mask.valid_lens"},
    {"setup/window", "mask.sliding_window"},
    {"setup/alibi", "mask.alibi"},
    {"setup/alibi_scale", "mask.alibi_scale"},
    {"setup/fill", "mask.value"},
    {"setup/fully_masked_rows", "mask.fully_masked_rows"},
    {"setup/scale", "attention.scale"},
    {"setup/temperature", "attention.temperature"},
    {"setup/softcap", "attention.softcap"},
    {"setup/clip_qkv", "attention.clip_qkv"},
    {"setup/rotary_base", "attention.rotary_base"},
    {"setup/dropout", "attention.dropout"},
    {"setup/dropout_seed", "attention.dropout_seed"},
};

constexpr std::array<Row, 35> rows{{
    {{"setup/op", "operator", "multi-head attention, or scaled dot-product attention alone",
      "op MHA SDPA scaled_dot_product_attention multi_head_attention switch"}},
    {{"setup/source", "inputs", "random numbers, or the words of a text", "random text"}},
    {{"setup/text", "text", "your own sentence", "sentence words tokens type"}, Needs::text},
    {{"setup/builder", "sentence builder", "choose the words of a sentence from what the model knows well",
      "build make sentence random surprise example words"},
     Needs::patterns},
    {{"setup/positions", "positions", "sinusoidal positions in the embeddings", "positional encoding order"},
     Needs::text},
    {{"setup/attention", "attention", "self-attention, or cross-attention to a second sentence",
      "self cross"}},
    {{"setup/key_text", "key text", "the second sentence: keys and values", "cross"}, Needs::key_text},
    {{"setup/parameters", "heads", "heads made by hand, or random parameters", "hand-made random parameters"}},
    {{"setup/layer", "layer", "which layer of the model is computed", "model block other"}, Needs::model},
    {{"setup/layout", "in_proj as", "the projection packed, as 3 or as 3·H matrices", "packed layout"},
     Needs::projections},
    {{"setup/causal", "causal", "whether a token sees later tokens", "mask future autoregressive"}},
    {{"setup/alignment", "aligned", "where the diagonal of the causal mask starts when L and S differ",
      "mask"},
     Needs::causal},
    {{"setup/preset", "pattern", "a named mask", "mask preset prefix dilated documents"}},
    {{"setup/valid_length", "valid length", "padding: keys from here on are blocked",
      "valid_lens key_padding_mask mask"}},
    {{"setup/window", "window", "a sliding window of keys", "mask local sliding"}},
    {{"setup/alibi", "ALiBi", "linear biases that penalise distance", "mask slope bias"}},
    {{"setup/alibi_scale", "ALiBi scale", "the factor of every ALiBi bias", "mask slope bias Falcon"},
     Needs::alibi},
    {{"setup/fill", "mask value", "what a blocked score becomes", "mask fill -inf -1e9"}},
    {{"setup/fully_masked_rows", "fully masked rows", "NaN or 0 if every key is blocked",
      "mask row with no key left"}},
    {{"setup/mask_convention", "masks shown as", "how masks are written: 0 and −∞, True blocks, True keeps",
      "mask convention booleans True False"}},
    {{"setup/gain", "gain of the head", "the strength of the selected head", "mute strength"},
     Needs::projections},
    {{"setup/freeze", "attention of the head", "freeze the attention weights of the head", "freeze weights"}},
    {{"setup/groups", "KV heads", "from multi-head over grouped to multi-query attention", "GQA MQA MHA"},
     Needs::groups},
    {{"setup/embed_dim", "embed_dim", "E, the width of the model", "d_model size"}},
    {{"setup/num_heads", "num_heads", "H, the number of heads", "size number"}},
    {{"setup/num_kv_heads", "num_kv_heads", "G, the number of key/value heads", "GQA MQA"}},
    {{"setup/batch", "batch", "N, the number of sequences computed at once", "size"}},
    {{"setup/query_length", "query length", "L, the number of query rows", "size tokens"}, Needs::no_text},
    {{"setup/key_length", "key length", "S, the number of key and value rows", "size tokens"}, Needs::other_keys},
    {{"setup/scale", "scale", "the factor of every score", "sqrt divide 1/√D"}},
    {{"setup/temperature", "temperature", "below 1 attention sharpens, above 1 it flattens", "sharp soft t"}},
    {{"setup/softcap", "softcap", "scores never exceed ±c", "tanh cap Gemma"}},
    {{"setup/clip_qkv", "clip_qkv", "q, k and v never exceed ±c", "clamp OLMo"}, Needs::projections},
    {{"setup/rotary_base", "rotary base", "q and k rotated by their positions, as in Llama",
      "RoPE rope_theta rotary position embedding"}},
    {{"setup/dropout", "dropout", "the probability that an attention weight becomes 0", "p regularisation"}},
}};

std::string path_of_model(const Scenario& scenario) {
  return path_from(scenario.origin.folder, scenario.parameters.file.value_or(""));
}

bool has_row(Needs needs, const Scenario& scenario) {
  const InputsSpec& in = scenario.inputs;
  const bool text = in.source == InputSource::text;
  const bool projections = scenario.op == Op::multi_head_attention;
  switch (needs) {
    case Needs::nothing:
      return true;
    case Needs::model:
      return is_of_model(scenario);
    case Needs::patterns:
      return text && !in.key_text && is_of_model(scenario) && has_sentence_patterns(path_of_model(scenario));
    case Needs::text:
      return text;
    case Needs::key_text:
      return text && in.key_text;
    case Needs::no_text:
      return !text;
    case Needs::other_keys:
      return !text && (!in.self_attention || !projections);
    case Needs::projections:
      return projections;
    case Needs::groups:
      return scenario.attention.num_heads > 1 && !is_of_model(scenario);
    case Needs::alibi:
      return scenario.mask.alibi;
    case Needs::causal:
      return scenario.mask.is_causal;
  }
  return false;
}

}  // namespace

std::vector<SetupSetting> setup_settings(const Scenario& scenario) {
  std::vector<SetupSetting> there;
  for (const Row& row : rows) {
    if (has_row(row.needs, scenario)) there.push_back(row.setting);
  }
  return there;
}

std::string_view setup_key(std::string_view id) {
  const auto* const found = std::ranges::find(row_keys, id, &RowKey::id);
  return found == std::ranges::end(row_keys) ? std::string_view() : found->key;
}

ImGuiID setup_control(std::string_view id) {
  const std::string name(id);
  // A text field and a button stand alone, without a name next to them.
  if (id == "setup/builder" || id == "setup/text" || id == "setup/key_text")
    return ImGui::GetID(name.c_str());
  const bool slides = id == "setup/gain" || id == "setup/groups";
  ImGui::PushID(name.c_str());
  const ImGuiID control = ImGui::GetID(slides ? name.c_str() : "field");
  ImGui::PopID();
  return control;
}

}  // namespace headwise
