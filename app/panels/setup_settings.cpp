#include "app/panels/setup_settings.h"

#include <algorithm>

#include "core/files/file_paths.h"
#include "core/files/word_rows.h"
#include "core/model/files/sentence_patterns.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"

namespace headwise {

std::string_view embedded_words_settings();

namespace {

std::string path_of_model(const Scenario& scenario) {
  return path_from(scenario.origin.folder, scenario.parameters.file.value_or(""));
}

bool has_text(const Scenario& scenario) {
  return scenario.inputs.source == InputSource::text;
}

bool has_projections(const Scenario& scenario) {
  return projects(scenario.op);
}

// What a row needs in order to be shown at all.
struct Condition {
  std::string_view name;
  bool (*holds)(const Scenario&);
};

constexpr Condition conditions[] = {
    {"", [](const Scenario&) { return true; }},
    {"model", [](const Scenario& scenario) { return is_of_model(scenario); }},
    {"patterns",
     [](const Scenario& scenario) {
       return has_text(scenario) && !scenario.inputs.key_text && is_of_model(scenario) &&
              has_sentence_patterns(path_of_model(scenario));
     }},
    {"text", has_text},
    {"key_text", [](const Scenario& scenario) { return has_text(scenario) && scenario.inputs.key_text; }},
    {"no_text", [](const Scenario& scenario) { return !has_text(scenario); }},
    {"other_keys",
     [](const Scenario& scenario) {
       return !has_text(scenario) && (!scenario.inputs.self_attention || !has_projections(scenario));
     }},
    {"projections", has_projections},
    {"mha", [](const Scenario& scenario) { return has_projections(scenario) && !is_latent(scenario.op); }},
    {"latent", [](const Scenario& scenario) { return is_latent(scenario.op); }},
    {"no_latent", [](const Scenario& scenario) { return !is_latent(scenario.op); }},
    {"qk_norm", [](const Scenario& scenario) { return scenario.attention.qk_norm.has_value(); }},
    {"rotary",
     [](const Scenario& scenario) {
       return scenario.attention.rotary_base || scenario.attention.rotary_inverse_frequencies;
     }},
    {"rotary_base", [](const Scenario& scenario) { return scenario.attention.rotary_base.has_value(); }},
    {"rotary_scaling", [](const Scenario& scenario) { return scenario.attention.rotary_scaling.has_value(); }},
    {"trained_length",
     [](const Scenario& scenario) {
       const std::optional<RotaryScaling>& scaling = scenario.attention.rotary_scaling;
       return scaling && scaling->kind != RotaryScalingKind::linear;
     }},
    {"groups",
     [](const Scenario& scenario) {
       return scenario.attention.num_heads > 1 && !is_of_model(scenario) && !is_latent(scenario.op);
     }},
    {"alibi", [](const Scenario& scenario) { return scenario.mask.alibi; }},
    {"causal", [](const Scenario& scenario) { return scenario.mask.is_causal; }},
};

using Setting = SetupSetting;
constexpr FieldWord<Setting> field_words[] = {{"letters", field<&Setting::letters>},
                                              {"rare", field<&Setting::rare>},
                                              {"drag", field<&Setting::drag_step>},
                                              {"from", field<&Setting::drag_least>},
                                              {"to", field<&Setting::drag_most>}};

}  // namespace

std::span<const SetupSetting> all_setup_settings() {
  static const std::vector<SetupSetting> all = [] {
    constexpr std::string_view file = "settings.txt";
    std::vector<SetupSetting> settings;
    for (const auto& [id, value] : word_rows(embedded_words_settings(), file)) {
      std::vector<std::string_view> parts = parts_in(value);
      parts.resize(7);
      const auto* const condition = std::ranges::find(conditions, parts[4], &Condition::name);
      if (condition == std::end(conditions))
        throw Error(ExitStatus::input, {"settings.txt: " + std::string(id), "there is no such condition",
                                        std::string(parts[4]), "", ""});
      SetupSetting& setting = settings.emplace_back(
          SetupSetting{std::string(id), parts[0], parts[1], parts[2], parts[3], {}, parts[6]});
      read_fields(parts[5], setting, field_words, file, id);
      setting.is_there = condition->holds;
    }
    return settings;
  }();
  return all;
}

std::vector<SetupSetting> setup_settings(const Scenario& scenario) {
  std::vector<SetupSetting> there;
  for (const SetupSetting& setting : all_setup_settings())
    if (!setting.name.empty() && setting.is_there(scenario)) there.push_back(setting);
  return there;
}

const SetupSetting& setup_setting(std::string_view id) {
  static const SetupSetting none;
  const auto found = std::ranges::find(all_setup_settings(), id, &SetupSetting::id);
  return found == all_setup_settings().end() ? none : *found;
}

std::string_view setup_key(std::string_view id) {
  return setup_setting(id).key;
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
