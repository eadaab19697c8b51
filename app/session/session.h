// What the window works on: the Scenario asked for, the last good Trace, and the way back.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/session/computation.h"
#include "app/session/history.h"
#include "app/session/worker.h"

namespace headwise {

class Session {
 public:
  // Computes `first` at once and throws its Error where it has no trace. `wake` is called from another thread
  // when a computation in the background is done: the next poll() takes it in.
  explicit Session(const Scenario& first, std::function<void()> wake = {});

  // What is asked for. It belongs to trace() unless computing() or error() says otherwise.
  const Scenario& scenario() const { return asked_; }
  // The last good result, and the Scenario that it was made from.
  const ScenarioInputs& inputs() const { return good_->inputs; }
  const Trace& trace() const { return *good_->trace; }
  const TracePtr& trace_ptr() const { return good_->trace; }
  const Scenario& traced_scenario() const { return good_->scenario; }
  // All of that together, to be held while the session goes on.
  const ComputationPtr& computation() const { return good_; }
  // Why the Scenario asked for has no trace; empty where it has one, or may still get it.
  const std::string& error() const { return error_; }
  // What the last edit changed, one line; empty before the first.
  const std::string& last_edit() const { return last_edit_; }
  const History& history() const { return history_; }
  bool computing() const { return running_.has_value() || next_.has_value(); }
  // How long and how far, while computing().
  Waiting waiting() const { return worker_.waiting(); }

  // Asks for another Scenario. Small ones have their trace when this returns, large ones after a later
  // poll(); one that fails leaves the trace and the history as they are and sets error(). `label` names the
  // step for undo; `continues` as in History::push. On top of an edit that failed: what only both together make possible
  // is made so; else what had failed is dropped, and last_edit() says it.
  void edit(const Scenario& scenario, const std::string& label, bool continues = false);
  // The same of a scenario that comes as a whole, from a file: nothing is carried over to it or from it.
  void open(const Scenario& scenario, const std::string& label);
  // The drag or the typing is over.
  void end_step();
  // A Scenario without a trace is dropped first; then one step back. False where there is nothing to take
  // back.
  bool undo();
  bool redo();
  // What is being computed is no longer wanted: the Scenario is that of trace() again, and so is the place in the history.
  // False where nothing is being computed, or the history does not hold that Scenario.
  bool cancel();
  // Back to what was asked for when `history`, this session's own, was copied: what came after it cannot be undone or done
  // again. `label` says why, for the line that tells what changed.
  void return_to(const History& history, const std::string& label);
  // What they would take back or do again, for a menu; empty where there is nothing.
  std::string undo_label() const;
  std::string redo_label() const { return history_.redo_label(); }

  // Once a frame: takes in what the background has finished. True where something is different now.
  bool poll();
  // Waits until nothing is under way (tests, and pictures of the window).
  void finish();

 private:
  struct Request {
    enum class Kind { edit, undo, redo, back } kind = Kind::edit;
    Scenario scenario;
    std::string label;
    bool continues = false;
    // Of an edit on top of one that failed: the same without that one, and why that one failed.
    std::optional<Scenario> alone = std::nullopt;
    std::string error_before = {};
    // Of an edit that is tried alone: both together, and why they failed.
    std::optional<Scenario> both = std::nullopt;
    std::string error_of_both = {};
  };
  // Frozen heads that an edit carries along stay where their weights fit its sizes; else they are let go, in the same
  // step, and come back while that goes on as soon as they fit again.
  Scenario with_heads_that_fit(const Scenario& scenario, const std::string& label, bool continues);
  void submit(Request request);
  // What is under way, or waits for that, is no longer wanted.
  void abandon();
  void start(Request request);
  // It has no trace.
  void refuse(Request request, std::string error);
  void adopt(const Request& request, ComputationPtr computation);
  void take_in();

  Scenario asked_;
  ComputationPtr good_;
  ComputationPtr step_base_;  // what a drag under way began from: the summary speaks of the whole drag
  History history_;
  std::optional<Scenario> before_letting_go_;  // where the step under way has let frozen heads go
  std::string letting_go_label_;               // of that step
  std::string error_;
  bool opened_ = false;  // what failed was opened: edits mend it, and drop nothing
  std::string last_edit_;
  std::optional<Request> running_;  // in the background; null where its result is no longer wanted
  std::optional<Request> next_;     // to be started when the background is free
  ComputationPtr arrived_;          // written by the worker; null: it failed
  std::string arrived_error_;       // why
  Worker worker_;
};

}  // namespace headwise
