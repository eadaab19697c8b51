// What the window works on: the requested Scenario, the last good Trace, and the history.
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
  // Computes `first` at once and throws its Error if it has no trace. `wake` is called from another thread
  // when a background computation is done: the next poll() takes it in.
  explicit Session(const Scenario& first, std::function<void()> wake = {});

  // The requested Scenario. trace() belongs to it unless computing() or error() says otherwise.
  const Scenario& scenario() const { return asked_; }
  // The last good result, and the Scenario it was computed from.
  const ScenarioInputs& inputs() const { return good_->inputs; }
  const Trace& trace() const { return *good_->trace; }
  const TracePtr& trace_ptr() const { return good_->trace; }
  const Scenario& traced_scenario() const { return good_->scenario; }
  // All of that together, to hold on to while the session continues.
  const ComputationPtr& computation() const { return good_; }
  // Why the requested Scenario has no trace; empty if it has one, or may still get it.
  const std::string& error() const { return error_; }
  // What the last edit changed, in one line; empty before the first.
  const std::string& last_edit() const { return last_edit_; }
  const History& history() const { return history_; }
  bool computing() const { return awaited_ || running_ || next_; }
  // The Scenario whose model is being trained; null: none.
  const Scenario* awaited() const { return awaited_ ? &awaited_->scenario : nullptr; }
  // Elapsed time and progress, while computing().
  Waiting waiting() const;

  // Whether a model that has to be trained first (core/files/file_paths.h) is trained in the background:
  // until it is there, the Scenario that asks for it is awaited(), and scenario() and the history stay as
  // they are. Otherwise, and to begin with, open() and edit() wait for it.
  void train_in_background(bool wanted) { trains_in_background_ = wanted; }

  // Requests another Scenario. Small ones have their trace when this returns, large ones after a later
  // poll(); one that fails leaves the trace and the history unchanged and sets error(). `label` names the
  // step for undo; `continues` as in History::push. On top of an edit that failed: if both together are
  // possible, both are applied; else the failed one is dropped, and last_edit() says so.
  void edit(const Scenario& scenario, const std::string& label, bool continues = false);
  // The same for a complete scenario, from a file: nothing is carried over to it or from it.
  void open(const Scenario& scenario, const std::string& label);
  // The same for a page of a playlist: a step of the history (History::turn_page) at once, before it has its
  // trace and where it never gets one, so that what is edited on it is not taken for an edit of the page
  // before. Of an awaited() one, as soon as its model is there.
  void open_page(const Scenario& scenario, std::size_t page);
  // The drag or the typing is over.
  void end_step();
  // A Scenario without a trace is dropped first; then one step back. False if there is nothing to undo. What
  // is awaited after open() stays, here and in redo().
  bool undo();
  bool redo();
  // Cancels the computation: the Scenario is that of trace() again, and so is the place in the history. False
  // if nothing is being computed, or the history does not hold that Scenario. While a model is trained:
  // of that alone.
  bool cancel();
  // Back to what was requested when `history`, a copy of this session's own, was made: what came after it can
  // be neither undone nor redone. `label` says why, for the line that reports what changed.
  void return_to(const History& history, const std::string& label);
  // What undo and redo would revert or repeat, for a menu; empty if there is nothing.
  std::string undo_label() const;
  std::string redo_label() const { return history_.redo_label(); }

  // Once a frame: takes in what the background has finished. True if something changed.
  bool poll();
  // Waits until no work is under way (tests, and pictures of the window).
  void finish();

 private:
  struct Request {
    enum class Kind { edit, undo, redo, back } kind = Kind::edit;
    Scenario scenario;
    std::string label;
    bool continues = false;
    bool opens = false;
    std::optional<std::size_t> page = std::nullopt;  // that is opened
    // For an edit on top of one that failed: the same edit without that one, and why that one failed.
    std::optional<Scenario> alone = std::nullopt;
    std::string error_before = {};
    // For an edit that is tried alone: both together, and why they failed.
    std::optional<Scenario> both = std::nullopt;
    std::string error_of_both = {};
  };
  // Frozen heads that an edit carries along stay if their weights fit its sizes; else they are unfrozen in
  // the same step, and restored, while that step continues, as soon as they fit again.
  Scenario with_fitting_frozen_heads(const Scenario& scenario, const std::string& label, bool continues);
  void open(Request request);
  void turn_page(Request request);
  // Has the model trained that the request needs, in place of one under way.
  void await_model(Request request);
  void make_awaited();
  void drop_awaited();
  // An edit of what has changed since; what is opened is complete, and stays.
  void drop_awaited_edit();
  void take_in_model();
  void submit(Request request);
  // Discards the work under way and the request waiting for it.
  void abandon();
  void start(Request request);
  // The request has no trace.
  void refuse(Request request, std::string error);
  void adopt(const Request& request, ComputationPtr computation);
  void collect_results();

  Scenario asked_;
  ComputationPtr good_;
  ComputationPtr step_base_;  // where a drag under way started: the summary covers the whole drag
  History history_;
  std::optional<Scenario> before_unfreezing_;  // set if the step under way has unfrozen heads
  std::string unfreezing_label_;               // of that step
  std::string error_;
  bool opened_ = false;  // the failed scenario was opened: edits fix it, and drop nothing
  std::string last_edit_;
  std::optional<Request> running_;  // in the background; null if its result is no longer wanted
  std::optional<Request> next_;     // to be started when the worker is free
  ComputationPtr arrived_;          // written by the worker; null: it failed
  std::string arrived_error_;       // why
  bool trains_in_background_ = false;
  std::optional<Request> awaited_;  // until its model is there
  std::string model_error_;         // written by its worker; empty: it is there
  Worker model_worker_;             // cancelled: it does not work for awaited_
  Worker worker_;
};

}  // namespace headwise
