#include "core/model/config/attention_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "core/files/strict_json.h"
#include "core/files/word_rows.h"
#include "core/tensor/error.h"

namespace headwise {

namespace embedded {
std::span<const unsigned char> model_attention_settings();
std::span<const unsigned char> model_other_settings();
}  // namespace embedded

namespace {

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
  unsigned readers = 0;  // of reads::
  Neutral neutral = never;
};

constexpr unsigned every_type = ~0U;

std::vector<AttentionSetting> read_attention_settings() {
  std::vector<AttentionSetting> settings;
  for (const WordRow& row : word_rows(embedded::model_attention_settings(), "attention_settings.txt")) {
    AttentionSetting setting{row.key};
    for (const std::string_view word : words_in(row.value)) {
      const auto* const neutral =
          std::ranges::find(neutral_words, word, [](const auto& each) { return each.first; });
      const unsigned readers = word == "every_type" ? every_type : settings_group(word);
      if (neutral == std::end(neutral_words) && readers == 0)
        throw Error(ExitStatus::input,
                    {"attention_settings.txt: " + std::string(row.key), "a word says nothing",
                     std::string(word), "a group of settings, or a neutral value", ""});
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
  static const auto words = word_list(embedded::model_other_settings());
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

std::vector<std::string> settings_not_computed(const Json& config, const ModelType* type, unsigned computed) {
  std::vector<std::string> told;
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
