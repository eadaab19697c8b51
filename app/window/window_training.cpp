#include "app/window/window_training.h"

#include <fmt/format.h>
#include <imgui.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include "app/training/training_heads.h"
#include "app/training/training_plot.h"
#include "app/window/page_turns.h"
#include "app/window/window_files.h"
#include "app/window/window_state.h"
#include "core/files/file_paths.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/run_record.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

// Where the models are that were looked into. They stay until the next program looks into one, so that a
// scenario that was left unsaved finds its model again.
fs::path inspection_folder(const WindowState& window) {
  const std::string& kept = window.document.kept_folder;
  return (kept.empty() ? fs::temp_directory_path() / "headwise" : fs::path(kept)) / "training";
}

// Of one run of a program: "PID-induction-1-0".
std::string folder_of_run(const WindowState& window, std::size_t run) {
  const LiveTraining& training = window.document.training;
  const std::string name =
      fmt::format("{}-{}-{}-{}", ::getpid(), training.source().name, training.number(), run);
  return (inspection_folder(window) / name).string();
}

// Removes what programs left behind that have ended, except for the model that is open.
void forget_ended_programs(const WindowState& window, const std::string& open_model) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(inspection_folder(window), ignored)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    const auto program = static_cast<pid_t>(std::atoi(name.c_str()));
    const bool runs = program > 0 && (::kill(program, 0) == 0 || errno == EPERM);
    if (!runs && !open_model.starts_with(path + "/")) fs::remove_all(entry.path(), ignored);
  }
}

std::string model_path(const Scenario& scenario) {
  if (!is_of_model(scenario) || !scenario.parameters.file || is_builtin(*scenario.parameters.file)) return "";
  return path_from(scenario.origin.folder, *scenario.parameters.file);
}

// Of FOLDER/checkpoint-STEP.
Index step_in_path(const std::string& path) {
  constexpr std::string_view word = "/checkpoint-";
  const std::size_t at = path.rfind(word);
  return at == std::string::npos ? 0 : std::atoll(path.c_str() + at + word.size());
}

// "induction" of a training that was watched, "5313-induction-1-0"; any other folder is named as it is.
std::string name_of_training(const std::string& folder) {
  const std::size_t first = folder.find('-'), last = folder.rfind('-');
  const std::size_t before_last =
      last == std::string::npos || last == 0 ? std::string::npos : folder.rfind('-', last - 1);
  const bool watched = first != std::string::npos && before_last != std::string::npos &&
                       before_last > first && folder.find_first_not_of("0123456789") == first;
  return watched ? folder.substr(first + 1, before_last - first - 1) : folder;
}

bool is_watched(const WindowState& window, const std::string& path) {
  const PlaceInTraining& place = window.view.place_in_training;
  return !place.folder.empty() && place.number == window.document.training.number() &&
         place.run < window.document.training.runs().size() && path.starts_with(place.folder + "/");
}

// The model where the run stands; its step may have been looked into before, and is the same then,
// to the last bit.
std::string written_checkpoint(LiveTraining& training, const std::string& folder, std::size_t run) {
  const std::string path = checkpoint_path(folder, training.stopped_run(run).step());
  return is_there(path) ? path : training.write_checkpoint(folder, run);
}

// Whether the model is a checkpoint of the folder that the watched training goes on from.
bool is_resumed_checkpoint(const LiveTraining& training, const std::string& path) {
  if (path.empty() || training.saved_folder().empty()) return false;
  std::error_code ignored;
  return fs::absolute(path, ignored)
      .lexically_normal()
      .string()
      .starts_with(training.saved_folder() + "/checkpoint-");
}

// The scenario with another model of the same training: everything else stays.
void show_checkpoint(WindowState& window, const std::string& path, Index step, bool continues) {
  Scenario edited = window.document.session.scenario();
  edited.parameters.file = path;
  window.document.session.edit(edited, fmt::format("go to step {}", step), continues);
  window.document.scenario_path = path;
}

// Looks up the checkpoints beside the model at `path`.
void find_checkpoints(PlaceInTraining& place, const std::string& path) {
  if (place.of == path) return;
  place.of = path;
  place.checkpoints = path.empty() ? std::vector<ModelCheckpoint>{} : sibling_checkpoints(path);
  place.resumable = !place.checkpoints.empty() && is_there(place.checkpoints.back().path + "/training.json");
}

// Of place.checkpoints, that of the model at `path`; the first if it is none of them.
std::size_t shown_checkpoint(const PlaceInTraining& place, const std::string& path) {
  std::error_code ignored;
  const std::string whole = fs::absolute(path, ignored).lexically_normal().string();
  const auto shown = std::ranges::find_if(place.checkpoints, [&](const ModelCheckpoint& each) {
    return whole == each.path || whole.starts_with(each.path + "/");
  });
  return shown == place.checkpoints.end() ? 0 : static_cast<std::size_t>(shown - place.checkpoints.begin());
}

// The training of place.checkpoints, at the step of the model at `path`.
SavedTraining saved_training(const PlaceInTraining& place, const std::string& path) {
  return {fs::path(place.checkpoints.front().path).parent_path().string(),
          place.checkpoints[shown_checkpoint(place, path)].step};
}

// Takes the watched training to the step that was asked for, and shows its model as soon as it is there.
void follow_asked_step(WindowState& window) {
  PlaceInTraining& place = window.view.place_in_training;
  LiveTraining& training = window.document.training;
  if (!place.target || training.busy()) return;
  const Index step = training.runs()[place.run].step();
  const Index wanted = std::min(*place.target, training.runs()[place.run].reached());
  if (step != wanted && training.error().empty()) return training.go_to(wanted);
  place.target.reset();
  window.view.notices.attempt<std::exception>(
      [&] { show_checkpoint(window, written_checkpoint(training, place.folder, place.run), step, true); });
}

}  // namespace

void inspect_head(WindowState& window, const TrainedHead& head) {
  WindowDocument& document = window.document;
  LiveTraining& training = document.training;
  window.view.notices.attempt<std::exception>([&] {
    PlaceInTraining place;
    place.folder = folder_of_run(window, head.run);
    place.number = training.number();
    place.run = head.run;
    forget_ended_programs(window, model_path(document.session.scenario()));
    const std::string path = written_checkpoint(training, place.folder, head.run);
    Scenario scenario = scenario_of_file(path);
    scenario.parameters.layer = head.layer;
    suspend_page(window);
    window.view.setup.forget_scenario();
    const Index step = training.runs()[head.run].step();
    document.session.open(scenario, fmt::format("look inside step {}", step));
    document.scenario_path = path;
    window.view.place_in_training = std::move(place);
    window.view.selection =
        selection_within(weights_of_head(window.view.selection, head.head), document.session.trace());
    skip_motion(window.view.motion);
    window.dialogs.training.open = false;
    window.view.notices.say(
        fmt::format("The model after {} steps of training, at head {}. {} goes to other steps.", step,
                    trained_head_name(head.layer, head.head),
                    window.view.full_screen ? "The line above the stage" : "The line below the steps"));
  });
}

void toggle_training(WindowState& window) {
  TrainingViewState& view = window.dialogs.training;
  view.open = !view.open;
  if (!view.open || window.document.training.begun()) return;
  PlaceInTraining& place = window.view.place_in_training;
  const std::string path = model_path(window.document.session.scenario());
  find_checkpoints(place, path);
  if (place.resumable) view.to_resume = saved_training(place, path);
  if (view.task != no_task) return;
  view.error.clear();
  view.task = TrainingViewState{}.task;
}

void ask_for_training(WindowState& window, const TrainingToSave& wanted) {
  const LiveTraining& training = window.document.training;
  const std::optional<TrainingChange> change = training.runs()[wanted.run].change;
  const std::string name = training.source().file.empty() ? training.name()
                                                          : fs::path(training.name()).stem().string(),
                    changed = change ? fmt::format("{}-{}", name, training_change_entry(*change).name) : name;
  const int purpose = static_cast<int>(FileDialogPurpose::save_training_folder) + static_cast<int>(wanted.form);
  open_file_dialog(window.dialogs.files, static_cast<FileDialogPurpose>(purpose),
                   working_folder() + changed + std::string(training_form_entry(wanted.form).ending));
  window.dialogs.training.saved_run = wanted.run;
  window.dialogs.training.open = false;
  window.dialogs.training.waits = true;
}

void ask_for_training_task(WindowState& window) {
  open_file_dialog(window.dialogs.files, FileDialogPurpose::open_training_task, working_folder());
  window.dialogs.training.open = false;
  window.dialogs.training.waits = true;
}

void save_training(WindowState& window, FileDialogPurpose purpose, const std::string& path) {
  const int form = static_cast<int>(purpose) - static_cast<int>(FileDialogPurpose::save_training_folder);
  window.document.training.save(static_cast<TrainingForm>(form), path, window.view.settings.theme,
                                window.dialogs.training.saved_run);
}

void notify_of_saved_training(WindowState& window) {
  TrainingViewState& view = window.dialogs.training;
  if (view.waits && !window.dialogs.files.open) {
    view.waits = false;
    view.open = true;
  }
  if (const std::string saved = window.document.training.take_saved(); !saved.empty()) {
    view.saved = saved;
    window.view.notices.say(saved);
  }
}

bool is_inspecting(const WindowState& window) {
  return is_watched(window, model_path(window.document.session.scenario()));
}

std::optional<WatchedModel> watched_model(WindowState& window, const Scenario& scenario) {
  const std::string path = model_path(scenario);
  const PlaceInTraining& place = window.view.place_in_training;
  const LiveTraining& training = window.document.training;
  const bool looked_into = is_watched(window, path);
  if (!looked_into && !is_resumed_checkpoint(training, path)) return std::nullopt;
  const std::string& folder = looked_into ? place.folder : training.saved_folder();
  const std::size_t run = looked_into ? place.run : 0;
  return WatchedModel{.training = training.number(),
                      .run = run,
                      .step = step_in_path(path),
                      .layer = scenario.parameters.layer,
                      .task = training.shared_task(),
                      .settings = training.runs()[run].settings,
                      .checkpoint = checkpoint_path(folder, step_in_path(path)),
                      .edited = !is_as_trained(scenario),
                      .cells = &window.document.explained_cells};
}

bool stands_in_training(WindowState& window) {
  const std::string path = model_path(window.document.session.scenario());
  PlaceInTraining& place = window.view.place_in_training;
  if (path.empty()) return false;
  if (is_watched(window, path)) return true;
  find_checkpoints(place, path);
  return place.checkpoints.size() > 1;
}

void draw_place_in_training(WindowState& window, const WidgetContext& widgets) {
  PlaceInTraining& place = window.view.place_in_training;
  LiveTraining& training = window.document.training;
  const std::string path = model_path(window.document.session.scenario());
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const RectF area{at.x, at.y, room.x, room.y};
  CheckpointStrip strip;
  if (is_watched(window, path)) {
    training.collect_results();
    const WatchedRun& run = training.runs()[place.run];
    const Index step = place.target.value_or(step_in_path(path));
    strip = {.name = fmt::format("{}, {}", training.name(), label_of_run(run)),
             .place = fmt::format("step {} of {}", step, run.reached()),
             .shown = step,
             .count = run.reached() + 1,
             .watched = true};
    if (const auto& from = window.document.walk.left_page) strip.page = from->page + 1;
  } else {
    const std::size_t index = shown_checkpoint(place, path);
    strip = {
        .name = name_of_training(fs::path(place.checkpoints.front().path).parent_path().filename().string()),
        .place = fmt::format("step {} of {}", place.checkpoints[index].step, place.checkpoints.back().step),
        .shown = static_cast<Index>(index),
        .count = std::ssize(place.checkpoints),
        .resumed = place.resumable && training.saved_folder() == saved_training(place, path).folder,
        .resumable = place.resumable};
  }
  const CheckpointStripAction action = draw_checkpoint_strip(widgets, strip, area);
  if (action.to_page) {
    resume_page(window);
    return;
  }
  if (action.to_training) {
    window.dialogs.training.open = true;
    if (!strip.watched && !strip.resumed) window.dialogs.training.to_resume = saved_training(place, path);
  }
  if (strip.watched) {
    if (action.place) place.target = action.place;
    return follow_asked_step(window);
  }
  if (!action.place) return;
  const ModelCheckpoint& to = place.checkpoints[static_cast<std::size_t>(*action.place)];
  show_checkpoint(window, to.path, to.step, action.held);
}

}  // namespace headwise
