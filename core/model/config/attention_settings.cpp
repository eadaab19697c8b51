#include "core/model/config/attention_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/files/strict_json.h"
#include "core/model/config/other_settings.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

enum class Neutral { never, off, on, one, absolute_positions, full_layers, full_attention };

// An attention setting: `readers` take it into account, for all others any value but the neutral one (and null) changes what is computed.
struct AttentionSetting {
  std::string_view key;
  unsigned readers;  // of reads::
  Neutral neutral = Neutral::never;
};

using enum Neutral;
constexpr unsigned every_type = ~0U;

constexpr std::array attention_settings{
    AttentionSetting{"alibi", reads::falcon, off},
    AttentionSetting{"attention_chunk_size", 0},
    AttentionSetting{"attention_layers", reads::local_windows},
    AttentionSetting{"attention_multiplier", reads::multiplier | reads::written_multiplier},
    AttentionSetting{"attention_sink", 0, off},
    AttentionSetting{"attention_type", reads::block_sparse, full_attention},
    AttentionSetting{"attention_types", reads::local_windows},
    AttentionSetting{"attention_window", 0},
    AttentionSetting{"attn_logit_softcapping", reads::softcap, off},
    AttentionSetting{"attn_temperature_tuning", 0, off},
    AttentionSetting{"cache_implementation", reads::window},
    AttentionSetting{"clip_qkv", reads::clip},
    AttentionSetting{"is_causal", reads::causal_switch, on},
    AttentionSetting{"is_decoder", every_type},  // it changes nothing for types that do not read it
    AttentionSetting{"key_multiplier", 0, one},
    AttentionSetting{"kv_lora_rank", 0},
    AttentionSetting{"layer_types", reads::window, full_layers},
    AttentionSetting{"local_attention", 0},
    AttentionSetting{"max_window_layers", reads::window},
    AttentionSetting{"multi_query", reads::falcon | reads::multi_query, off},
    AttentionSetting{"new_decoder_architecture", reads::falcon, off},
    AttentionSetting{"no_rope_layer_interval", reads::no_rope},
    AttentionSetting{"no_rope_layers", reads::no_rope},
    AttentionSetting{"partial_rotary_factor", reads::rope},
    AttentionSetting{"position_embedding_type", reads::position_type, absolute_positions},
    AttentionSetting{"pruned_heads", reads::pruned_heads, off},
    AttentionSetting{"q_lora_rank", 0},
    AttentionSetting{"qk_layernorm", 0, off},
    AttentionSetting{"qk_norm", 0, off},
    AttentionSetting{"quantization_config", 0},
    AttentionSetting{"query_pre_attn_scalar", reads::query_scalar},
    AttentionSetting{"relative_attention", 0, off},
    AttentionSetting{"rope_local_base_freq", 0},
    AttentionSetting{"rope_parameters", reads::rope},
    AttentionSetting{"rope_scaling", reads::rope},
    AttentionSetting{"rope_theta", reads::rope},
    AttentionSetting{"rotary_dim", reads::rotary_dim},
    AttentionSetting{"rotary_emb_base", reads::rope},
    AttentionSetting{"rotary_pct", reads::rope},
    AttentionSetting{"scale_attn_by_inverse_layer_idx", reads::gpt2_scale, off},
    AttentionSetting{"scale_attn_weights", reads::gpt2_scale, on},
    AttentionSetting{"sliding_window", reads::window},
    AttentionSetting{"sliding_window_pattern", reads::rope_in_windows},
    AttentionSetting{"use_alibi", 0, off},
    AttentionSetting{"use_bidirectional_attention", 0, off},
    AttentionSetting{"use_prompt", 0, off},
    AttentionSetting{"use_qk_norm", 0, off},
    AttentionSetting{"use_relative_position_bias", 0, off},
    AttentionSetting{"use_shared_relative_position_bias", 0, off},
    AttentionSetting{"use_sliding_window", reads::window, off},
};

bool is_word(const Json& value, std::string_view word) {
  return value.is_string() && value.get_ref<const std::string&>() == word;
}

bool is_neutral(const Json& value, Neutral neutral) {
  if (value.is_null()) return true;
  switch (neutral) {
    case never:
      return false;
    case off:
      return (value.is_boolean() && !value.get<bool>()) ||
             (value.is_number() && value.get<double>() == 0.0) || (value.is_structured() && value.empty());
    case on:
      return value.is_boolean() && value.get<bool>();
    case one:
      return value.is_number() && value.get<double>() == 1.0;
    case full_attention:
      return is_word(value, "original_full");
    case absolute_positions:
      return is_word(value, "absolute");
    case full_layers:
      return value.is_array() &&
             std::ranges::all_of(value, [](const Json& kind) { return is_word(kind, "full_attention"); });
  }
  return false;
}

bool names_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> settings_not_computed(const Json& config, const ModelType* type, unsigned computed) {
  std::vector<std::string> told;
  for (auto at = config.begin(); at != config.end(); ++at) {
    const std::string& key = at.key();
    const Json& value = at.value();
    if (key.starts_with("_")) continue;  // internal to the program that wrote the file
    if (type && names_word(type->own_settings, key)) continue;
    const auto known = std::ranges::find(attention_settings, key, &AttentionSetting::key);
    const std::string setting =
        fmt::format("config.json: {} = {}", one_line(key, 60), json_as_written(value, 60));
    if (known != attention_settings.end()) {
      if (known->readers == every_type || is_neutral(value, known->neutral) ||
          ((type ? type->reads : computed) & known->readers) != 0)
        continue;
      told.push_back(type ? fmt::format("{} is ignored for the model type {}", setting, type->name)
                          : setting + " may change attention, but is not computed");
    } else if (type && !value.is_null() && !is_setting_of_other_parts(key)) {
      told.push_back(
          fmt::format("{} is not a known setting of {}: it may change attention", setting, type->name));
    }
  }
  return told;
}

}  // namespace headwise
