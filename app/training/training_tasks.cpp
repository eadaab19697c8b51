#include "app/training/training_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/tooltip.h"

namespace headwise {
namespace {

constexpr std::string_view own_text = "your own text …";

// Those that wait, in words that differ: "induction, 412 steps"; where `shown` or another one has that task, too, with the size of the model.
std::vector<std::string> words_of_kept(const std::vector<KeptTraining>& kept, const std::string& shown) {
  std::vector<std::string> words;
  for (const KeptTraining& each : kept) {
    std::string word = fmt::format("{}, {} {}", each.name, each.reached, each.reached == 1 ? "step" : "steps");
    if (each.name == shown || std::ranges::count(kept, each.name, &KeptTraining::name) > 1)
      word += fmt::format(", {} × {} heads, E {}", each.settings.model.layers, each.settings.model.heads,
                          each.settings.model.width);
    if (std::ranges::count(words, word) > 0) word += fmt::format(" ({})", each.number);
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

bool draw_training_tasks(const WidgetContext& widgets, LiveTraining& training, TrainingViewState& state) {
  const std::vector<KeptTraining> kept = training.kept();
  std::array<DropDownGroup, 2> groups;
  for (const TaskEntry& entry : task_entries()) groups[1].words.emplace_back(entry.name);
  groups[1].words.emplace_back(own_text);
  groups[0].words = words_of_kept(kept, state.task);
  if (!kept.empty()) {
    groups[0].caption = "back to";
    groups[1].caption = "begin another";
  }
  const DropDownResult chosen = drop_down(widgets, "training/task", state.task, groups, state.tasks);
  tooltip(widgets,
          "What is learned. A training that has taken steps stays in this list when another one begins.");
  if (!chosen.chosen) return false;
  const auto back = std::ranges::find(groups[0].words, *chosen.chosen);
  if (back != groups[0].words.end())
    return_to_training(training, state, kept[static_cast<std::size_t>(back - groups[0].words.begin())].number);
  else if (*chosen.chosen != own_text && *chosen.chosen != state.task)
    begin_training(training, state, {.name = *chosen.chosen});
  return chosen.chosen == own_text;
}

}  // namespace headwise
