// A training that is watched: it runs in a thread of its own, and what it measures arrives here while it goes
// on. A second one, with one thing changed, may run beside it: the same seed, the same batches. Every step of
// the past is a place to go back to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/worker.h"
#include "core/export/color_map.h"
#include "core/tensor/tensor.h"
#include "core/train/checkpoint.h"
#include "core/train/training_history.h"
#include "core/train/training_outcome.h"

namespace headwise {

// What a model does at one step, on the same held-out examples at every step.
struct TrainingPoint {
  Index step = 0;
  std::vector<TensorPtr> maps;  // of each layer (1,H,T,T), for the first held-out example; of long ones the first 128 rows and columns
  // While training goes on, not measured at every step: then empty, and of no position.
  std::vector<std::vector<TrainedHabits>> habits;  // of each layer and head
  BatchResult held_out;
};
using TrainingPointPtr = std::shared_ptr<const TrainingPoint>;

// The loss and the accuracy of each step's batch, before its update.
struct TrainingLoss {
  float loss = 0.0f, accuracy = 0.0f;
};

// What has arrived of one training.
struct WatchedRun {
  TrainingSettings settings;
  std::optional<TrainingChange> change = {};  // of a second one, to what the first one is
  std::vector<TrainingLoss> losses = {};      // of steps 0, 1, … up to the furthest one reached
  Index losses_from = 0;  // the first step from which all of them are known; those before are not a number
  // Ascending; evenly spaced and ever fewer of them.
  // A training that goes on from a folder begins with the checkpoints there.
  std::vector<TrainingPointPtr> past = {};
  TrainingPointPtr now = {};              // where it stands
  std::optional<TrainingStep> last = {};  // the step that led there, if one was taken
  std::optional<TrainingFailure> failure = {};

  Index step() const { return now ? now->step : 0; }
  Index reached() const { return std::ssize(losses); }
  // Null for a step that was not taken yet, or whose loss is not known.
  const TrainingLoss* loss_of(Index step) const {
    return step >= losses_from && step < reached() ? &losses[static_cast<std::size_t>(step)] : nullptr;
  }
  // What is said where `steps` were taken: the loss of the batch of the last one. Null at the beginning.
  const TrainingLoss* loss_at(Index steps) const { return loss_of(steps - 1); }
  // The last point of the past at or before a step; null: there is none.
  TrainingPointPtr measured_at(Index step) const;
  // Where it stands if its habits were measured there, else the last point before that has them; null: none.
  TrainingPointPtr measured_now() const;
};

// A training that had taken steps when another one began. It waits, and goes on where it stood.
struct KeptTraining {
  int number = 0;    // LiveTraining::number() of it
  std::string name;  // LiveTraining::name() of it
  Index reached = 0;
  TrainingSettings settings;  // of its first run
};

enum class TrainingForm;  // app/session/training_saving.h

// How many steps are taken a second; 0: as many as the machine can.
using StepsPerSecond = double;

// Only its owner's thread calls it.
class LiveTraining {
 public:
  // `wake` is called from another thread when something has arrived; it may be empty.
  explicit LiveTraining(std::function<void()> wake = {});
  ~LiveTraining();

  // A new training, which stands at step 0. The one before is kept if it has taken a step. Throws
  // Error(usage), Error(input) or Error(memory): then it is still there.
  void begin(TaskSource source, const TrainingSettings& settings);
  // Goes on with the training whose checkpoints are in this folder, as `headwise train --resume` does: from
  // the newest one, to the same bits; the others are places of its past, and what lies between them is
  // computed again. It stands at `step`. The losses of the past are those of the folder's curve.csv, as far
  // back as it has all of them. Throws Error(input) if there is no checkpoint, it cannot be read, it computes
  // in f64, or the task's file has changed; Error(usage) as begin(). Then those before are still there.
  void resume_saved(const std::string& folder, Index step);
  // The folder that the first one goes on from; empty: it began here.
  const std::string& saved_folder() const;
  // A second one beside the first, from step 0; or, if this change is one of the last two that were trained
  // beside it, that one with its steps. It takes the place of another second one; nothing changes if it is
  // there already. The first one's settings must allow the change.
  void start_variant(TrainingChange change);
  void end_variant();

  // The latest first: at most four, and only the latest if they take more than 512 MiB;
  // the oldest ones are forgotten.
  std::vector<KeptTraining> kept() const;
  // Goes back to one of them, where it stood; the training before is kept as with begin().
  // Nothing if there is none of that number.
  void return_to(int number);

  bool begun() const { return !current_.runs.empty(); }
  // Of the task: "induction"; the name of its file: "story.txt".
  std::string name() const;
  const TaskSource& source() const { return current_.source; }
  // Differs for each training that has begun, also with another one beside it.
  int number() const { return current_.number; }
  // Of a training that has begun.
  const TrainTask& task() const { return *current_.task; }
  const std::shared_ptr<const TrainTask>& shared_task() const { return current_.task; }
  // The first held-out example: its tokens, and what should be said at each of them (−1: nothing).
  const std::vector<std::int32_t>& tokens() const { return current_.tokens; }
  const std::vector<std::int32_t>& targets() const { return current_.targets; }
  // The first, and then the one beside it.
  const std::vector<WatchedRun>& runs() const { return current_.watched; }
  // Of all runs: where they stand, and the furthest step that one of them has reached.
  Index step() const;
  Index reached() const;

  // Goes on from where it stands, until paused or until `last_step`.
  // What is behind the others catches up first.
  void play(StepsPerSecond pace, Index last_step);
  void pause();  // a step under way is given up: it is taken again later, to the same bits
  void take_step();
  // To a step that was reached; what stands further goes back. In the background.
  void go_to(Index step);
  bool playing() const { return playing_; }
  bool busy() const { return worker_.busy(); }
  // What the change did, computed as soon as two trainings stand still at one step; null before.
  const std::shared_ptr<const ChangeAnswer>& answer() const { return answer_; }
  double tokens_per_second() const { return tokens_per_second_; }  // while training; 0: not known
  // Why the last request came to nothing, a sentence; empty: it did not.
  const std::string& error() const { return error_; }

  // Takes in what has arrived. To be called once a frame.
  void collect_results();

  // Stops what is under way, writes FOLDER/checkpoint-STEP of the first run, or of the second, and returns
  // its path. Throws Error(output).
  std::string write_checkpoint(const std::string& folder, std::size_t run = 0);
  // Saves the first run, or the second, in the background: a folder of checkpoints with its curve.csv, a
  // picture, a program, or pages of a lesson with their checkpoints beside them. saved() tells when it is
  // done, and error() why it could not be. What is written is whole, and goes nowhere where there is
  // something already that is not replaced by it: a folder with checkpoints is refused.
  void save(TrainingForm form, const std::string& path, Theme theme, std::size_t run = 0);
  // A sentence, once: what was saved, and where.
  std::string take_saved() { return std::exchange(saved_, ""); }
  bool saving() const { return saving_; }

  // The run itself, at the step where it stands. Stops what is under way.
  TrainingRun<float>& stopped_run(std::size_t run = 0);

  // The state where a run stands; null while something is under way.
  std::shared_ptr<const TrainingState<float>> current_state(std::size_t run);

  // Bytes that such a training keeps at most for its past.
  static Index most_bytes(const TrainingSettings& settings);

 private:
  struct Run;
  struct Arrived;
  // All of a training, also while another one is watched; or only the second of two runs, while another
  // second one is.
  struct ParkedRun {
    int number = 0;
    TaskSource source;
    std::shared_ptr<const TrainTask> task;
    std::vector<std::unique_ptr<Run>> runs;  // the worker's while it is busy
    std::vector<WatchedRun> watched;
    std::vector<std::int32_t> tokens, targets;
    std::vector<std::unique_ptr<ParkedRun>> seconds;  // the latest first
  };

  void stand_at_start(TaskSource source,
                      const TrainingSettings& settings);  // begin(), but for what is measured then
  void start(bool playing, std::function<void()> work);
  void take_arrived();
  void answer_when_ready();
  void stop();
  void park_current();  // it is stopped; the next one takes its place
  void park_variant();
  // taken from them; null: it is not among them
  std::unique_ptr<ParkedRun> take_parked_variant(TrainingChange change);
  static Index bytes_of(const ParkedRun& aside);
  Run* behind(Index last_step);  // the run to take the next step; null: none has one left
  Run* late_by_one();            // the one of two that has one step less than the other; null: neither
  // On the worker's thread.
  void play_here(StepsPerSecond pace, Index last_step);
  static void take_step_here(Run& run);
  static void keep_point(Run& run);
  static Index most_held(const Run& run);  // checkpoints of the past
  void take_checkpoint(Run& run, const std::string& path,
                       Index step);  // into the past of the run, which then stands there
  static TrainingPointPtr measured(Run& run, bool whole);  // whole: not the maps alone
  static std::string curve_of(const Run& run);             // curve.csv
  static TrainingOutcome outcome_of(Run& run, std::vector<double> losses);
  void publish();
  // The paths of the checkpoints that it wrote, for these steps, beside curve.csv if asked for; the run then
  // stands where it stood.
  std::vector<std::string> write_checkpoints(Run& run, const std::string& folder,
                                             const std::vector<Index>& steps, bool with_curve);
  void save_here(TrainingForm form, const std::string& path, Theme theme, Run& run, const WatchedRun& watched);

  std::function<void()> wake_;
  ParkedRun current_;
  int last_number_ = 0;
  std::vector<std::unique_ptr<ParkedRun>> parked_;  // the latest first
  bool playing_ = false;
  double tokens_per_second_ = 0.0;
  std::string error_;
  std::shared_ptr<const ChangeAnswer> answer_;
  std::string saved_;
  bool saving_ = false;
  std::vector<std::shared_ptr<const TrainingState<float>>> current_states_;  // of each run, once asked for
  bool asked_ = false;  // for the answer, where they stand
  std::mutex mutex_;
  std::unique_ptr<Arrived> arrived_;  // under the mutex
  Worker worker_;                     // last: it ends before the rest
};

}  // namespace headwise
