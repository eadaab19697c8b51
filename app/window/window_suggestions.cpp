#include "app/window/window_suggestions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/window/window_commands.h"
#include "app/window/window_settings.h"
#include "app/window/window_state.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

// Asked every frame: the presets are read once.
bool is_text_of_preset(const std::string& text) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const Preset& preset : presets()) all.push_back(preset_scenario(preset.name).inputs.text);
    return all;
  }();
  return std::ranges::find(texts, text) != texts.end();
}

SuggestionContext context_of(const WindowState& window) {
  const Session& session = window.document.session;
  const Scenario& scenario = session.scenario();
  SuggestionContext now;
  now.model = is_of_model(scenario);
  now.pinned = window.view.selection.pinned.has_value();
  now.stepped = window.view.first_steps.stepped || window.view.selection.step != Step::inputs;
  now.muted = scenario.head_gain && std::ranges::find(*scenario.head_gain, 0.0) != scenario.head_gain->end();
  now.own_text = scenario.inputs.source == InputSource::text && !scenario.inputs.key_text &&
                 !is_text_of_preset(scenario.inputs.text);
  now.edits = session.history().step_count() - 1;
  return now;
}

}  // namespace

void find_suggestion(WindowState& window) {
  WindowView& view = window.view;
  view.suggestion = {};
  // A second sentence is there: it was found.
  if (window.document.session.scenario().inputs.key_text)
    remember_suggestion(view, Suggestion::cross_attention);
  if (view.settings.first_steps || window.document.walk.page) return;
  view.suggestion.suggestion = next_suggestion(view.settings.suggestions_done, context_of(window));
}

void take_suggestion(WindowState& window) {
  ShownSuggestion& shown = window.view.suggestion;
  if (!shown.suggestion || !(shown.pressed || shown.dismissed)) return;
  const Suggestion suggestion = *shown.suggestion;
  remember_suggestion(window.view, suggestion);
  if (shown.dismissed) return;
  const SuggestionEntry& entry = suggestion_entries()[static_cast<std::size_t>(suggestion)];
  if (entry.command) perform(window, {*entry.command});
  if (suggestion == Suggestion::cross_attention) window.view.setup.wanted_row = "setup/attention";
}

}  // namespace headwise
