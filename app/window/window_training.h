// From the training view to the window: the model of a step, opened like any other,
// with a line on which other steps are reached.
#pragma once

#include <optional>

#include "app/panels/file_dialog.h"
#include "app/session/explained_cell.h"
#include "app/session/training_saving.h"
#include "app/training/training_view.h"
#include "app/widgets/painter.h"

namespace headwise {

struct WindowState;

// Writes the model of the step where the run stands as a checkpoint, and opens it at this head, on the
// example that the training view shows. A notice says why where that fails; the training view then stays.
// From a page of a playlist, Escape and the line lead back.
void inspect_head(WindowState& window, const TrainedHead& head);

// Opens the training view, or closes it. Before any training has begun,
// the one that the scenario's model is a checkpoint of goes on.
void toggle_training(WindowState& window);

// Opens the dialog for a place to save the watched training; saves it there, in the background.
// A notice says when it is saved.
void ask_for_training(WindowState& window, const TrainingToSave& wanted);
// Opens the dialog for a text or examples to train on.
void ask_for_training_task(WindowState& window);
void save_training(WindowState& window, FileDialogPurpose purpose, const std::string& path);
// Once a frame: says what was saved, and comes back to the training view from the dialog.
void notify_of_saved_training(WindowState& window);

// Whether the scenario's model is one of the watched training that was looked into.
bool is_inspecting(const WindowState& window);
// The scenario's model if it is a step of the watched training,
// looked into or a checkpoint that it goes on from.
std::optional<WatchedModel> watched_model(WindowState& window, const Scenario& scenario);
// Whether the scenario's model is one of several of a training: of the one that is watched,
// or checkpoints in a folder.
bool stands_in_training(WindowState& window);
// The line, in the current ImGui window; takes at once what was asked for. Only if it stands in one.
void draw_place_in_training(WindowState& window, const WidgetContext& widgets);

}  // namespace headwise
