#include "app/training/training_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/training_layout.h"
#include "app/panels/panel_frame.h"
#include "app/training/training_heads.h"
#include "app/training/training_plot.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

// The list of tasks to train, with the trainings that one can go back to.

constexpr std::string_view own_text = "your own text …";

// Those that wait, in words that differ: "induction, 412 steps"; where `shown` or another one has that task,
// too, with the size of the model.
std::vector<std::string> words_of_kept(const std::vector<KeptTraining>& kept, const std::string& shown) {
  std::vector<std::string> words;
  for (const KeptTraining& each : kept) {
    std::string word = fmt::format("{}, {}", each.name, counted(each.reached, "step"));
    if (each.name == shown || std::ranges::count(kept, each.name, &KeptTraining::name) > 1)
      word += fmt::format(", {} × {} heads, E {}", each.settings.model.layers, each.settings.model.heads,
                          each.settings.model.width);
    if (std::ranges::count(words, word) > 0) word += fmt::format(" ({})", each.number);
    words.push_back(std::move(word));
  }
  return words;
}

// Goes back to one of LiveTraining::kept().
void return_to_training(LiveTraining& training, TrainingViewState& state, int number) {
  training.return_to(number);
  state.task = training.name();
  state.error.clear();
  state.saved.clear();
  state.target.reset();
}

// Goes on with a training in a folder; `state.saved` says from where. Where it cannot and none has begun, a
// task is to be chosen.
void resume_training(LiveTraining& training, TrainingViewState& state, const SavedTraining& saved) {
  try {
    training.resume_saved(saved.folder, saved.step);
    state.task = training.name();
    state.error.clear();
    const WatchedRun& run = training.runs().front();
    state.saved = fmt::format("Goes on from step {} of {}.", run.reached(), saved.folder);
    if (run.losses_from > 0 && run.losses_from == run.reached())
      state.saved += " The losses of the steps before are not known: there is no curve.csv with them.";
    else if (run.losses_from > 0)
      state.saved += fmt::format(" Its curve.csv is complete from step {} on.", run.losses_from);
  } catch (const Error& error) {
    state.error = error.what();
    if (!training.begun()) state.task = no_task;
  }
  state.target.reset();
}

// Draws the list as one ImGui item, and begins or goes back to what was chosen.
// Returns whether a file was asked for.
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

constexpr float sheet_width = 1560.0f, around = 40.0f, below_and_around = 76.0f;  // design units
constexpr Index longest_training = 10'000;                                        // steps
constexpr double above_beside = 32.0;  // design units: the legend or a choice
constexpr std::size_t most_sentence_lines = 2;
constexpr std::array<std::string_view, 3> pace_names{"10", "30", "as fast as it can"},
    brief_pace_names{"10", "30", "fastest"};
constexpr std::array<StepsPerSecond, 3> paces{10.0, 30.0, 0.0};

// "Save ▾" at the right end, which moves to the left of it. Of two runs each has its words.
std::optional<TrainingToSave> draw_save_choice(const PanelContext& context, const LiveTraining& training,
                                               TrainingViewState& state, float& right, float y) {
  const std::string word = "save as";
  right -= drop_down_size(context, word).x;
  ImGui::SetCursorScreenPos({right, y});
  DropDownGroup forms;
  for (const WatchedRun& run : training.runs())
    for (int i = 0; i < training_form_count; ++i) {
      forms.words.emplace_back(training_form_entry(static_cast<TrainingForm>(i)).name);
      if (run.change) forms.words.back() += fmt::format(", {}", training_change_entry(*run.change).with);
    }
  const DropDownResult chosen = drop_down(context, "training/save", word, std::span(&forms, 1), state.forms);
  right -= context.px(16);
  if (!chosen.chosen || !training.begun()) return std::nullopt;
  const auto at = static_cast<int>(std::ranges::find(forms.words, *chosen.chosen) - forms.words.begin());
  return TrainingToSave{static_cast<TrainingForm>(at % training_form_count),
                        static_cast<std::size_t>(at / training_form_count)};
}

// A training that has come further elsewhere goes on as long again.
Index target_step(const LiveTraining& training) {
  return (training.reached() / longest_training + 1) * longest_training;
}

// The task, and how fast it goes.
std::optional<TrainingToSave> draw_choices(const PanelContext& context, LiveTraining& training,
                                           TrainingViewState& state, const RectF& area, bool& own_task) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const float text_y = float(area.y) + paint.px(5);
  paint.say(font, {float(area.x), text_y}, context.palette.text_dim, "task");
  ImGui::SetCursorScreenPos({float(area.x) + width_of(font, "task") + paint.px(8), float(area.y)});
  own_task = draw_training_tasks(paint, training, state);
  ImGui::SetCursorScreenPos({ImGui::GetItemRectMax().x + paint.px(8), float(area.y)});
  if (text_button(paint, "setup", "set up", ButtonLook::filled, training.begun()))
    state.setup.open = !state.setup.open;
  named_item(paint, "training/setup", "The task's sizes, the model, and how it is trained.");
  const float left = ImGui::GetItemRectMax().x + paint.px(16);

  auto right = float(area.x + area.width);
  const std::optional<TrainingToSave> to_save =
      draw_save_choice(context, training, state, right, float(area.y));
  const bool whole = segmented_control_size(paint, pace_names).x <= right - left;
  const std::array<std::string_view, 3>& names = whole ? pace_names : brief_pace_names;
  right -= segmented_control_size(paint, names).x;
  ImGui::SetCursorScreenPos({right, float(area.y)});
  if (segmented_control(paint, "pace", names, state.pace) && training.playing())
    training.play(paces[static_cast<std::size_t>(state.pace)], target_step(training));
  named_item(paint, "training/pace",
             "How many steps are taken a second. What is learned does not depend on it.");
  const std::string per_second = "steps a second";
  right -= width_of(font, per_second) + paint.px(8);
  if (right < left) return to_save;
  paint.say(font, {right, text_y}, context.palette.text_dim, per_second);
  if (!training.begun()) return to_save;
  const TrainingSettings& settings = training.runs().front().settings;
  const TrainModelConfig& model = settings.model;
  const std::string facts =
      fmt::format("{} × {} · E {} · {} sequences of {} tokens a step · seed {} · at most {}",
                  counted(model.layers, "layer"), counted(model.heads, "head"), model.width, settings.batch,
                  training.task().length, settings.seed,
                  bytes_text(LiveTraining::most_bytes(settings) * std::ssize(training.runs())));
  const float room = right - paint.px(16) - left;
  paint.say(context.fonts.mono_small, {left, text_y}, context.palette.text_dim,
            fitted_text(facts, context.fonts.mono_small, room));
  return to_save;
}

void move(LiveTraining& training, const TrainingViewState& state, TimelineMove wanted) {
  switch (wanted) {
    case TimelineMove::none:
      return;
    case TimelineMove::play_or_pause:
      if (training.playing())
        training.pause();
      else
        training.play(paces[static_cast<std::size_t>(state.pace)], target_step(training));
      return;
    case TimelineMove::step:
      if (training.step() < target_step(training)) training.take_step();
      return;
    case TimelineMove::back:
      training.go_to(std::max<Index>(0, training.step() - 1));
      return;
    case TimelineMove::first:
      training.go_to(0);
      return;
    case TimelineMove::last:
      training.go_to(training.reached());
      return;
  }
}

// A drag goes from place to place as fast as they can be computed, and ends at its last one.
void follow_target(LiveTraining& training, TrainingViewState& state) {
  if (!state.target || (training.busy() && !training.playing())) return;
  if (training.step() == *state.target || !training.error().empty())
    state.target.reset();
  else
    training.go_to(*state.target);
}

// Trains at once: that is what the button is pressed for.
void begin_change(LiveTraining& training, TrainingViewState& state, TrainingChange change) {
  training.start_variant(change);
  state.target.reset();
  state.beside = 1;
  training.play(paces[static_cast<std::size_t>(state.pace)], target_step(training));
}

// The habits of the heads; beside another training, those of both and what the change did.
void draw_beside_plot(const PanelContext& context, const LiveTraining& training, TrainingViewState& state,
                      const RectF& area, Index steps) {
  if (training.runs().size() < 2) {
    ImFont* font = context.fonts.small;
    const double title = context.px(26);
    const std::string words = "where each head looks";
    const float used = width_of(font, words) + context.px(14), right = float(area.x + area.width);
    ImVec2 at{float(area.x), float(area.y) + context.px(5)};
    // Where there is no room for both, the legend says more.
    if (at.x + used + habit_legend_width(context) <= right) {
      context.painter().say(font, at, context.palette.text_dim, words);
      at.x += used;
    }
    draw_habit_legend(context, at, right);
    return draw_training_habits(context, training.runs().front(),
                                {area.x, area.y + title, area.width, area.height - title}, steps,
                                state.readout);
  }
  // A new answer comes to the front, and goes when training goes on.
  const bool answered = training.answer() != nullptr;
  if (answered && !state.answered) state.beside = 2;
  if (training.playing() && !state.played && state.beside == 2) state.beside = 1;
  state.played = training.playing();
  state.answered = answered;
  constexpr std::array<std::string_view, 3> in_full{"without", "with the change", "what it did"},
      brief{"without", "with", "what it did"};
  const bool fits = static_cast<double>(segmented_control_size(context, in_full).x) <= area.width;
  const std::array<std::string_view, 3>& names = fits ? in_full : brief;
  ImGui::SetCursorScreenPos(corner(area));
  segmented_control(context, "beside", names, state.beside);
  named_item(context, "training/beside",
             "Where the heads look without the change and with it, and what the change did, in words.");
  const double used = ImGui::GetItemRectMax().y - area.y + context.px(6);
  const RectF below{area.x, area.y + used, area.width, area.height - used};
  if (state.beside == 2) return draw_change_answer(context, training, below);
  draw_training_habits(context, training.runs()[static_cast<std::size_t>(state.beside)], below, steps,
                       state.readout);
}

constexpr std::array<std::string_view, 2> below_names{"heads", "one number"};

// At the right of the line above the maps.
void draw_below_choice(const PanelContext& context, TrainingViewState& state, const RectF& area) {
  const ImVec2 size = segmented_control_size(context, below_names);
  ImGui::SetCursorScreenPos({float(area.x + area.width) - size.x, float(area.y) - context.px(4)});
  segmented_control(context, "below", below_names, state.below);
  named_item(context, "training/below",
             "The maps of the heads; or one number of the model, and how the next step changes it.");
}

// What was measured where it stands: of the last step's batch, and on unseen examples.
std::string figures_of(const LiveTraining& training) {
  const bool beside = training.runs().size() > 1;
  std::string text;
  for (const WatchedRun& run : training.runs()) {
    const Index step = run.step();
    if (beside) text += fmt::format("{}{}: ", text.empty() ? "" : "   ", label_of_run(run));
    text += fmt::format("step {}", step);
    if (const TrainingLoss* loss = run.loss_at(step))
      text += fmt::format(", {}loss {:.4f}", beside ? "" : "batch ", loss->loss);
    if (run.last && !beside)
      text += fmt::format(", gradient norm {:.3g}, learning rate {:.3g}", run.last->update.gradient_norm,
                          run.last->update.learning_rate);
    if (run.now && run.now->held_out.counted > 0)
      text += fmt::format(", held-out accuracy {:.1f} %", 100.0 * accuracy_of(run.now->held_out));
  }
  return text;
}

// The sentence of the task, or why something went wrong.
struct Sentence {
  std::string text;
  bool wrong = false;
};

Sentence sentence_of(const LiveTraining& training, const TrainingViewState& state) {
  if (!state.error.empty()) return {state.error, true};
  if (!training.error().empty()) return {training.error(), true};
  for (const WatchedRun& run : training.runs())
    if (run.failure) return {(run.change ? label_of_run(run) + ": " : "") + run.failure->what, true};
  if (!training.begun()) return {};
  const TrainTask& task = training.task();
  return {task.note.empty() ? task.what : task.what + " " + task.note, false};
}

void draw_sentence(const PanelContext& context, bool wrong, const std::vector<std::string>& lines,
                   const RectF& area) {
  write_lines(context.painter(), context.fonts.small, corner(area),
              wrong ? context.palette.error : context.palette.text, lines);
  ui_probe(wrong ? "training/error" : "training/sentence", area);
}

TrainingLayout layout_of(const PanelContext& context, const LiveTraining& training,
                         const TrainingViewState& state, const RectF& area, std::size_t sentence_lines) {
  TrainingParts parts{.sentence_lines = sentence_lines};
  if (!training.begun()) return training_layout(area, context.scale, parts);
  const TrainModelConfig& model = training.runs().front().settings.model;
  parts.layers = model.layers;
  parts.heads = model.heads;
  parts.runs = std::ssize(training.runs());
  parts.maps = state.below == 0;
  const auto width = float(training_layout(area, context.scale, parts).habits.width);
  const bool answers = parts.runs > 1 && state.beside == 2 && training.answer();
  parts.beside = above_beside * context.scale + (answers ? change_answer_height(context, training, width)
                                                         : least_habits_height(context, model));
  return training_layout(area, context.scale, parts);
}

// In the place of the curves, the maps and the timeline.
void draw_setup(const PanelContext& context, LiveTraining& training, TrainingViewState& state,
                const RectF& area) {
  const TrainingSetupWish wish = draw_training_setup(context, training, state.setup, area);
  if (wish == TrainingSetupWish::begin)
    begin_training(training, state, state.setup.draft.source, state.setup.draft.settings);
  if (wish == TrainingSetupWish::close || (wish == TrainingSetupWish::begin && state.error.empty()))
    state.setup.open = false;
}

}  // namespace

void begin_training(LiveTraining& training, TrainingViewState& state, TaskSource source,
                    const std::optional<TrainingSettings>& settings) {
  try {
    const TrainingSettings wanted = settings ? *settings : usual_settings(task_of(source));
    training.begin(std::move(source), wanted);
    state.task = training.name();
    state.error.clear();
    state.saved.clear();
  } catch (const Error& error) {
    state.error = error.what();
  }
  state.target.reset();
}

TrainingAction draw_training_view(const PanelContext& context, LiveTraining& training, ExplainedCells& cells,
                                  TrainingViewState& state) {
  TrainingAction action;
  training.collect_results();
  if (!state.open) {
    if (training.playing()) training.pause();
    return action;
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  if (const auto saved = std::exchange(state.to_resume, std::nullopt))
    resume_training(training, state, *saved);
  if (!training.begun() && state.error.empty()) begin_training(training, state, {.name = state.task});
  if (!begin_overlay(context, "overlay/training", "Train: watch it learn", state.open,
                     {.width = std::min(sheet_width, (display.x - context.px(around)) / context.scale),
                      .closes_outside = false,
                      .inner = &state.setup.open}))
    return action;
  work_probe("training");
  ImGui::PushFont(context.fonts.small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float above = at.y - ImGui::GetWindowPos().y;
  const RectF area{at.x, at.y, ImGui::GetContentRegionAvail().x,
                   std::floor(std::max(context.px(420), display.y - above - context.px(below_and_around)))};
  const Sentence sentence = sentence_of(training, state);
  const std::vector<std::string> lines =
      wrapped_lines(sentence.text, context.fonts.small, float(area.width), most_sentence_lines);
  const TrainingLayout layout = layout_of(context, training, state, area, lines.size());
  action.save = draw_choices(context, training, state, layout.choices, action.own_task);
  draw_sentence(context, sentence.wrong, lines, layout.sentence);
  if (training.begun() && state.setup.open) {
    const double from = layout.plot.y + context.px(10);
    draw_setup(context, training, state, {area.x, from, area.width, area.y + area.height - from});
  } else if (training.begun()) {
    state.readout.clear();
    const Index steps = last_step_shown(training.reached());
    TimelineMove wanted = draw_training_timeline(context, training, state, layout.timeline, steps);
    draw_training_plot(context, training, state, layout.plot, steps);
    draw_beside_plot(context, training, state, layout.habits, steps);
    draw_below_choice(context, state, layout.maps);
    const std::size_t run = training.runs().size() > 1 && state.beside == 1 ? 1 : 0;
    if (state.below == 0)
      action.inspect_head = draw_training_heads(context, training, state, layout.maps);
    else
      draw_update_view(context, training, cells, state.update, run, layout.maps, state.readout);
    if (training.playing() || !training.error().empty()) state.saved.clear();
    if (training.saving())
      state.readout = "Saving …";
    else if (!state.saved.empty())
      state.readout = state.saved;
    else if (state.readout.empty())
      state.readout = figures_of(training);
    context.painter().say(context.fonts.small, corner(layout.readout), context.palette.text,
                          fitted_text(state.readout, context.fonts.small, float(layout.readout.width)));
    const ChangesRowAction changed = draw_training_changes(context, training, state, layout.changes);
    if (changed.begin) begin_change(training, state, *changed.begin);
    if (changed.end) training.end_variant();
    if (wanted == TimelineMove::none) wanted = timeline_keys(context);
    if (training.saving()) wanted = TimelineMove::none;  // a save that is given up leaves half a folder
    if (wanted != TimelineMove::none) {
      state.target.reset();
      state.saved.clear();
    }
    move(training, state, wanted);
    follow_target(training, state);
  }
  ImGui::SetCursorScreenPos({at.x, at.y});
  ImGui::Dummy({float(area.width), float(area.height)});
  ImGui::PopFont();
  end_overlay();
  return action;
}

}  // namespace headwise
