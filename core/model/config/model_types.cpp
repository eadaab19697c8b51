#include "core/model/config/model_types.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "core/files/input_file.h"
#include "core/files/json_value.h"
#include "core/files/word_rows.h"

namespace headwise {

std::string_view embedded_model_types(), embedded_model_composite_types(),
    embedded_model_attention_settings(), embedded_model_other_settings();

namespace {

template <Sees choice>
constexpr auto sees = chosen<&ModelType::sees, choice>;

template <InnerPositions choice>
constexpr auto positions = chosen<&ModelType::positions, choice>;

template <QkNorm place>
constexpr auto norms = [](ModelType& type, std::string_view value) {
  type.qk_norm = place;
  return value.empty();
};

template <reads::Groups group>
constexpr auto reading = [](ModelType& type, std::string_view value) {
  type.reads |= group;
  return value.empty();
};

// clang-format off
constexpr FieldWord<ModelType> type_words[]{
    {"all_tokens", sees<Sees::all_tokens>}, {"past", sees<Sees::past>},
    {"past_in_decoder", sees<Sees::past_in_decoder>}, {"past_if_is_decoder", sees<Sees::past_if_is_decoder>},
    {"past_if_is_causal", sees<Sees::past_if_is_causal>}, {"rotary", positions<InnerPositions::rotary>},
    {"rotary_neighbours", positions<InnerPositions::rotary_neighbours>},
    {"alibi", positions<InnerPositions::alibi>},
    {"alibi_or_rotary", positions<InnerPositions::alibi_or_rotary>},
    {"as_position_type", positions<InnerPositions::as_position_type>},
    {"as_trained", positions<InnerPositions::as_trained>}, {"relative", positions<InnerPositions::relative>},
    {"relative_in_decoder", positions<InnerPositions::relative_in_decoder>},
    {"rope", reading<reads::rope>}, {"window", reading<reads::window>},
    {"multiplier", reading<reads::multiplier>}, {"query_scalar", reading<reads::query_scalar>},
    {"softcap", reading<reads::softcap>}, {"clip", reading<reads::clip>},
    {"gpt2_scale", reading<reads::gpt2_scale>}, {"no_rope", reading<reads::no_rope>},
    {"is_decoder", reading<reads::is_decoder>}, {"position_type", reading<reads::position_type>},
    {"falcon", reading<reads::falcon>}, {"multi_query", reading<reads::multi_query>},
    {"window_switch", reading<reads::window_switch>},
    {"partial_rope", reading<reads::partial_rope>}, {"rope_sections", reading<reads::rope_sections>},
    {"block_sparse", reading<reads::block_sparse>}, {"rotary_dim", reading<reads::rotary_dim>},
    {"rope_in_windows", reading<reads::rope_in_windows>}, {"local_windows", reading<reads::local_windows>},
    {"rope_without_window", reading<reads::rope_without_window>},
    {"half_windows", reading<reads::half_windows>}, {"base_by_kind", reading<reads::base_by_kind>},
    {"window_pattern", reading<reads::window_pattern>},
    {"trained_norm", reading<reads::trained_norm>}, {"linear_layers", reading<reads::linear_layers>},
    {"latents", reading<reads::latents>}, {"rope_interleave", reading<reads::rope_interleave>},
    {"indexer", reading<reads::indexer>}, {"chunks", reading<reads::chunks>}, {"layer_bases", reading<reads::layer_bases>},
    {"written_scalar", reading<reads::written_scalar>},
    {"both_ways_switch", reading<reads::both_ways_switch>},
    {"rotary_word", field<&ModelType::rotary_word>}, {"usual_rope", field<&ModelType::usual_rope>},
    {"usual_multiplier", field<&ModelType::usual_multiplier>},
    {"usual_window", field<&ModelType::usual_window>},
    {"usual_window_every", field<&ModelType::usual_window_every>},
    {"first_sees_all", field<&ModelType::first_sees_all>},
    {"windows_are_listed", field<&ModelType::windows_are_listed>},
    {"norm_unweighted", chosen<&ModelType::norms_have_weights, false>},
    {"rope_backwards", chosen<&ModelType::rotates_backwards, true>},
    {"indexer_neighbours", chosen<&ModelType::indexer_pairs, RotaryPairs::neighbours>},
    {"gate", chosen<&ModelType::output_gate, OutputGate::own_array>},
    {"gate_in_queries", chosen<&ModelType::output_gate, OutputGate::in_queries>},
    {"written_multiplier", reading<reads::written_multiplier>},
    {"causal_switch", reading<reads::causal_switch>}, {"head_dim", reading<reads::head_dim>},
    {"pruned_heads", reading<reads::pruned_heads>}, {"norm_switch", reading<reads::norm_switch>},
    {"usual_heads", field<&ModelType::usual_heads>},
    {"usual_kv_heads", field<&ModelType::usual_kv_heads>},
    {"usual_head_dim", field<&ModelType::usual_head_dim>},
    {"first_windowed", field<&ModelType::first_windowed>}, {"usual_base", field<&ModelType::usual_base>},
    {"usual_share", field<&ModelType::usual_share>}, {"usual_local_base", field<&ModelType::usual_local_base>},
    {"norm_per_head", norms<QkNorm::per_head>},
    {"norm_whole", norms<QkNorm::whole>}, {"norm_after_rotary", norms<QkNorm::per_head_after_rotary>},
    {"sinks", chosen<&ModelType::has_sinks, true>},
    {"layer_norms", chosen<&ModelType::qk_norm_kind, NormKind::layer>},
    {"norm_offset", field<&ModelType::qk_norm_offset>},
    {"usual_norm_epsilon", field<&ModelType::usual_norm_epsilon>}};
// clang-format on

using Json = nlohmann::json;

enum class Neutral { never, off, on, one, absolute_positions, full_layers, full_attention };

using enum Neutral;
constexpr std::pair<std::string_view, Neutral> neutral_words[]{{"off", off},
                                                               {"on", on},
                                                               {"one", one},
                                                               {"absolute_positions", absolute_positions},
                                                               {"full_layers", full_layers},
                                                               {"full_attention", full_attention}};

// An attention setting: `readers` take it into account, for all others any value but the neutral one (and
// null) changes what is computed.
struct AttentionSetting {
  std::string_view key;
  reads::Groups readers = 0;  // of reads::
  Neutral neutral = never;
};

constexpr reads::Groups every_type = ~reads::Groups{0};

std::vector<AttentionSetting> read_attention_settings() {
  std::vector<AttentionSetting> settings;
  for (const WordRow& row : word_rows(embedded_model_attention_settings(), "attention_settings.txt")) {
    AttentionSetting setting{row.key};
    for (const std::string_view word : words_in(row.value)) {
      const auto* const neutral =
          std::ranges::find(neutral_words, word, [](const auto& each) { return each.first; });
      const reads::Groups readers = word == "every_type" ? every_type : settings_group(word);
      if (neutral == std::end(neutral_words) && readers == 0)
        refuse_input("attention_settings.txt: " + std::string(row.key), "a word says nothing",
                     std::string(word), "a group of settings, or a neutral value");
      setting.readers |= readers;
      if (readers == 0) setting.neutral = neutral->second;
    }
    settings.push_back(setting);
  }
  return settings;
}

const AttentionSetting* find_attention_setting(std::string_view key) {
  static const std::vector<AttentionSetting> settings = read_attention_settings();
  const auto at = std::ranges::find(settings, key, &AttentionSetting::key);
  return at == settings.end() ? nullptr : &*at;
}

bool is_setting_of_other_parts(std::string_view key) {
  static const auto words = word_list(embedded_model_other_settings());
  return std::ranges::find(words, key) != words.end();
}

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

}  // namespace

std::vector<ModelType> model_types_in(std::string_view table) {
  std::vector<ModelType> types;
  for (const WordRow& row : word_rows(table, "types.txt")) {
    ModelType type;
    const std::size_t bar = std::min(row.value.find('|'), row.value.size());
    std::string_view words = row.value.substr(0, bar);
    if (constexpr std::string_view like = "like "; words.starts_with(like)) {
      const std::size_t end = std::min(words.find_first_of(" \n", like.size()), bar);
      const auto earlier =
          std::ranges::find(types, words.substr(like.size(), end - like.size()), &ModelType::name);
      if (earlier != types.end()) type = *earlier, words.remove_prefix(end);
    }
    read_fields(words, type, type_words, "types.txt", row.key);
    type.name = row.key;
    if (bar < row.value.size()) type.own_settings = row.value.substr(bar + 1);
    types.push_back(type);
  }
  return types;
}

std::span<const ModelType> model_types() {
  static const std::vector<ModelType> types = model_types_in(embedded_model_types());
  return types;
}

const ModelType* find_model_type(std::string_view name) {
  const auto at = std::ranges::find(model_types(), name, &ModelType::name);
  return at == model_types().end() ? nullptr : &*at;
}

bool is_composite_type(std::string_view name) {
  static const std::vector<std::string_view> names = word_list(embedded_model_composite_types());
  return std::ranges::find(names, name) != names.end();
}

reads::Groups settings_group(std::string_view word) {
  ModelType type;
  const auto* const found = std::ranges::find(type_words, word, &FieldWord<ModelType>::word);
  return found != std::end(type_words) && found->take(type, "") ? type.reads : 0;
}

std::vector<std::string> settings_not_computed(const Json& config, const ModelType* type,
                                               reads::Groups computed) {
  std::vector<std::string> sentences;
  const std::vector<std::string_view> own = words_in(type ? type->own_settings : "");
  for (auto at = config.begin(); at != config.end(); ++at) {
    const std::string& key = at.key();
    const Json& value = at.value();
    if (key.starts_with("_")) continue;  // internal to the program that wrote the file
    if (std::ranges::count(own, key) > 0) continue;
    const AttentionSetting* const known = find_attention_setting(key);
    const std::string setting =
        fmt::format("config.json: {} = {}", one_line(key, 60), json_as_written(value, 60));
    if (known) {
      if (known->readers == every_type || is_neutral(value, known->neutral) ||
          ((type ? type->reads : computed) & known->readers) != 0)
        continue;
      sentences.push_back(type ? fmt::format("{} is ignored for the model type {}", setting, type->name)
                               : setting + " may change attention, but is not computed");
    } else if (type && !value.is_null() && !is_setting_of_other_parts(key)) {
      sentences.push_back(
          fmt::format("{} is not a known setting of {}: it may change attention", setting, type->name));
    }
  }
  return sentences;
}

}  // namespace headwise
