#include "app/window/window_training.h"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <filesystem>

#include "app/training/training_habits.h"
#include "app/window/window_state.h"
#include "core/scenario/opened_scenario.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

// Of the models that were looked into; in a folder of each program that runs, so that none finds another's.
std::string looked_into_folder(const LiveTraining& training, std::size_t run) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("headwise-{}", ::getpid());
  return (folder / fmt::format("{}-{}-{}", training.source().name, training.number(), run)).string();
}

}  // namespace

void look_inside(WindowState& window, const TrainedHead& head) {
  WindowDocument& document = window.document;
  LiveTraining& training = document.training;
  try {
    const std::string folder = looked_into_folder(training, head.run);
    const std::string path = training.write_checkpoint(folder, head.run);
    Scenario scenario = scenario_of_file(path);
    scenario.parameters.layer = head.layer;
    document.walk.page.reset();
    document.walk.own_history.reset();
    window.view.setup.edited_row.clear();
    document.session.open(scenario, fmt::format("look inside step {}", training.runs()[head.run].step()));
    document.scenario_path = path;
    Selection& selection = window.view.selection;
    selection.step = Step::softmax;
    selection.view = StageView::one_head;
    selection.head = head.head;
    selection.batch = 0;
    selection.pinned.reset();
    selection.tensor.reset();
    selection = selection_within(selection, document.session.trace());
    skip_motion(window.view.motion);
    window.dialogs.training.open = false;
    window.view.notices.say(fmt::format(
        "The model after {} steps, at head {}. Every number is its own; {} leads back to the training.",
        training.runs()[head.run].step(), trained_head_name(head.layer, head.head),
        first_key_text(CommandId::train)));
  } catch (const std::exception& error) {
    window.view.notices.complain(error.what());
  }
}

}  // namespace headwise
