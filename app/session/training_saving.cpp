#include "app/session/training_saving.h"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "core/playlist/playlist.h"
#include "core/scenario/opened_scenario.h"

namespace headwise {
namespace {

constexpr std::array<TrainingFormEntry, training_form_count> training_forms{
    {{"a folder of checkpoints", ""},
     {"an animated picture (.png)", ".png"},
     {"a PyTorch program (.py)", ".py"},
     {"pages of a lesson (.json)", ".json"}}};

std::string page_caption(const WatchedRun& run, Index step, const std::string& task) {
  std::string caption = fmt::format("The model after {} steps of training on the task {}.", step, task);
  if (const TrainingLoss* loss = run.loss_of(step - 1))
    caption += fmt::format(" The loss of its last batch was {:.3f}.", loss->loss);
  if (const TrainingPointPtr point = run.measured_at(step); point && point->held_out.counted > 0)
    caption += fmt::format(" {:.0f} % of its answers to held-out examples {} right.",
                           100.0 * accuracy_of(point->held_out),
                           point->step == step ? "are" : fmt::format("were, at step {},", point->step));
  return caption;
}

}  // namespace

const TrainingFormEntry& training_form_entry(TrainingForm form) {
  return training_forms[static_cast<std::size_t>(form)];
}

std::vector<Index> spread_steps(const std::vector<Index>& steps, std::size_t count) {
  if (steps.size() <= count || count < 2) return steps;
  std::vector<Index> spread;
  for (std::size_t i = 0; i < count; ++i) spread.push_back(steps[i * (steps.size() - 1) / (count - 1)]);
  return spread;
}

void write_training_pages(const std::string& path, const std::vector<std::string>& checkpoints,
                          const WatchedRun& run, const std::string& task) {
  Playlist playlist;
  playlist.title = "Training: " + task;
  for (const std::string& checkpoint : checkpoints) {
    const Index step = read_saved_run(checkpoint).step;
    auto scenario = std::make_shared<Scenario>(scenario_of_file(checkpoint));
    scenario->parameters.layer = run.settings.model.layers - 1;
    PlaylistPage page;
    page.scenario = std::move(scenario);
    page.step = Step::softmax;
    page.view = StageView::all_heads;
    page.title = fmt::format("Step {}", step);
    page.caption = page_caption(run, step, task);
    playlist.pages.push_back(std::move(page));
  }
  write_playlist_file(playlist, path);
}

}  // namespace headwise
