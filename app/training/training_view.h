// "Watch it learn": a small model is trained before one's eyes. Its loss, its heads' maps of an example that it never trains on, and a line
// for each head that shows what it has come to do. The timeline is the training:
// every step is a place to stand.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/panels/panel.h"
#include "app/session/live_training.h"
#include "app/session/training_saving.h"
#include "app/training/training_setup.h"
#include "app/training/update_view.h"
#include "app/widgets/drop_down.h"

namespace headwise {

// A head of one of the two runs, at the step where it stands.
struct TrainedHead {
  std::size_t run = 0;
  Index layer = 0, head = 0;
};

// What the maps of one run are drawn with, kept from frame to frame.
struct TrainingMapsState {
  PositionWindow seen;
  Index tokens = 0;
  TensorPtr hidden;  // hidden_from_tokens
};

// A training in a folder of checkpoints, and the step of the one that is shown.
struct SavedTraining {
  std::string folder;
  Index step = 0;
};

// What one begins with: of all tasks the one in which eight heads do most clearly what one as wide as all of
// them does not. After 800 steps 8 heads say 100 % of their batch and 55 to 65 % of the held-out sums right,
// one wide head 6 to 20 % and 0 to 5 % (seeds 1 to 3).
inline constexpr const char* first_task = "modular-addition";

// In the place of a task while there is none: what was to go on could not.
inline constexpr const char* no_task = "choose a task";

enum class TrainingCurve { loss, accuracy };

struct TrainingViewState {
  bool open = false;
  bool waits = false;  // for the file dialog, which was opened from here: opens again when that closes
  std::string task = first_task;           // of task_entries(), or the path of a file
  std::optional<SavedTraining> to_resume;  // to go on with as soon as the view is open
  DropDownState tasks, forms;
  int pace = 0;  // of the paces offered
  DropDownState changes;
  // What stands at the right of the curve with two runs: the habits of the one, of the other, or the answer.
  int beside = 0;
  bool answered = false;  // the answer was there in the last frame
  bool played = false;    // it was training then
  TrainingCurve curve = TrainingCurve::loss;
  std::optional<Index> target;            // the step that was pointed at and is not computed yet
  std::array<TrainingMapsState, 2> maps;  // of each run
  TrainingSetupState setup;               // in the place of all below the task, while it is open
  int below = 0;                          // the curve: the heads' maps, or one number
  UpdateViewState update;
  std::string error;          // why the last task could not begin
  std::size_t saved_run = 0;  // that the file dialog asks a place for
  std::string saved;          // what was saved last, until training goes on
  std::string readout;        // what the mouse is on, a line
};

// What to save, and as what.
struct TrainingToSave {
  TrainingForm form{};
  std::size_t run = 0;
};

struct TrainingAction {
  std::optional<TrainedHead> inspect_head;  // open the model of this step, at this head
  std::optional<TrainingToSave> save;       // ask where to
  bool own_task = false;                    // ask for a file to train on
};

// Begins a training with these settings, or with the task's usual ones; where it cannot, `state.error` says
// why, and the one before stays.
void begin_training(LiveTraining& training, TrainingViewState& state, TaskSource source,
                    const std::optional<TrainingSettings>& settings = std::nullopt);

// Draws while open. Closing it pauses the training, which stays as it is.
TrainingAction draw_training_view(const PanelContext& context, LiveTraining& training, ExplainedCells& cells,
                                  TrainingViewState& state);

}  // namespace headwise
