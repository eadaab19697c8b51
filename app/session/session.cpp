#include "app/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "app/session/edit_summary.h"
#include "app/session/head_gains.h"
#include "core/files/file_paths.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Two frames of a usual display, the time a response may take. What takes no longer appears in the frame that
// requested it, and is not slowed down by that frame being drawn at the same time.
constexpr auto short_wait = std::chrono::microseconds(33333);
constexpr double patience = 0.5;  // seconds that a superseded computation may take
constexpr const char* cancelled_words = "Cancelled. Nothing was changed.";

// In the window it is clear which scenario is meant.
std::string without_scenario_prefix(const std::string& error) {
  constexpr std::string_view prefix = "scenario: ";
  return error.starts_with(prefix) ? error.substr(prefix.size()) : error;
}

// What a model's layer determines is written into the scenario; if the model cannot be opened,
// the computation says why.
Scenario with_layer(const Scenario& scenario) {
  try {
    return with_layer_values(scenario);
  } catch (const Error&) {
    return scenario;
  }
}

}  // namespace

Session::Session(const Scenario& first, std::function<void()> wake)
    : asked_(with_layer(first)),
      good_(compute(asked_, nullptr)),
      step_base_(good_),
      history_(asked_),
      model_worker_(wake),
      worker_(std::move(wake)) {}

void Session::edit(const Scenario& scenario, const std::string& label, bool continues) {
  drop_awaited_edit();
  if (scenario == asked_) {
    asked_.origin = scenario.origin;  // what was assumed may have been specified by now
    if (!continues) end_step();
    return;
  }
  if (trains_in_background_ && waits_for_model(scenario))
    return await_model({Request::Kind::edit, scenario, label, continues});
  const Scenario wanted = with_fitting_frozen_heads(with_layer(scenario), label, continues);
  if (wanted == asked_) return;
  Request request{Request::Kind::edit, wanted, label, continues};
  if (error_.empty()) opened_ = false;
  if (!error_.empty() && !opened_) {
    request.alone = with_edit_of(good_->scenario, asked_, wanted);
    request.error_before = error_;
    if (request.alone == wanted || request.alone == good_->scenario) request.alone.reset();
  }
  submit(std::move(request));
}

void Session::open(const Scenario& scenario, const std::string& label) {
  open(Request{.scenario = scenario, .label = label, .opens = true});
}

void Session::open_page(const Scenario& scenario, std::size_t page) {
  open(Request{.scenario = scenario, .label = fmt::format("page {}", page + 1), .opens = true, .page = page});
}

void Session::open(Request request) {
  drop_awaited();
  history_.end_step();
  if (!request.page && request.scenario == asked_ && error_.empty()) return;
  if (trains_in_background_ && waits_for_model(request.scenario)) return await_model(std::move(request));
  before_unfreezing_.reset();
  opened_ = true;
  request.scenario = with_layer(request.scenario);
  if (request.page)
    turn_page(std::move(request));
  else
    submit(std::move(request));
}

void Session::turn_page(Request request) {
  // What comes in after the page has been turned is no edit of it: only the same scenario's goes on.
  request.kind = Request::Kind::back;
  const bool under_way = running_ && !next_ && running_->scenario == request.scenario;
  const bool seen = !(running_ || next_) || good_->scenario == history_.current();
  history_.turn_page(request.scenario, request.label, *request.page, history_.step_back(0).page && !seen);
  if (!under_way) abandon();
  if (!under_way && !(request.scenario == good_->scenario)) return submit(std::move(request));
  asked_ = request.scenario;
  error_.clear();
  if (under_way) running_ = std::move(request);
}

Waiting Session::waiting() const {
  if (!awaited_) return worker_.waiting();
  return model_worker_.cancelled() ? Waiting{} : model_worker_.waiting();
}

void Session::await_model(Request request) {
  model_worker_.cancel();
  awaited_ = std::move(request);
  if (!model_worker_.busy()) make_awaited();
}

void Session::make_awaited() {
  model_worker_.start([this, folder = *awaited_->scenario.parameters.file] {
    // One processor is left to the window.
    const ThreadLimit limit(std::max(1, available_threads() - 1));
    const char* no_memory = "training this model does not fit in memory: choose a smaller width or batch";
    model_error_ = error_of([&] { make_folder(folder); }, no_memory);
  });
}

void Session::drop_awaited() {
  if (awaited_) model_worker_.cancel();
  awaited_.reset();
}

void Session::drop_awaited_edit() {
  if (awaited_ && !awaited_->opens) drop_awaited();
}

void Session::take_in_model() {
  if (!awaited_) return;
  if (model_worker_.cancelled()) return make_awaited();  // it was another's
  Request request = *std::exchange(awaited_, std::nullopt);
  if (model_error_.empty() && request.opens) return open(std::move(request));
  if (model_error_.empty()) return edit(request.scenario, request.label, request.continues);
  // It is not tried once more, which may take as long.
  abandon();
  before_unfreezing_.reset();
  opened_ = request.opens;
  asked_ = request.scenario;
  if (request.page) history_.turn_page(request.scenario, request.label, *request.page);
  refuse(std::move(request), without_scenario_prefix(model_error_));
}

Scenario Session::with_fitting_frozen_heads(const Scenario& scenario, const std::string& label, bool continues) {
  if (!continues || label != unfreezing_label_) before_unfreezing_.reset();
  const Scenario base = before_unfreezing_.value_or(asked_);
  const bool comes_back = before_unfreezing_ && !scenario.frozen_heads;
  const Scenario carried = comes_back ? with_frozen_heads_of(scenario, base) : scenario;
  if (!carried.frozen_heads || carried.frozen_heads != base.frozen_heads) return carried;
  // A new number of heads: they are different heads.
  const bool same_heads = carried.attention.num_heads == base.attention.num_heads;
  if (same_heads && frozen_heads_fit(carried, &good_->inputs)) return carried;
  before_unfreezing_ = base;
  unfreezing_label_ = label;
  return without_frozen_heads(carried);
}

void Session::end_step() {
  history_.end_step();
}

std::string Session::undo_label() const {
  return asked_ == history_.current() ? history_.undo_label() : "the change without a result";
}

void Session::abandon() {
  drop_awaited_edit();
  if (running_) worker_.cancel();
  running_.reset();
  next_.reset();
}

bool Session::undo() {
  history_.end_step();
  abandon();
  std::string label = "the unfinished edit";
  if (asked_ == history_.current()) {
    if (!history_.can_undo()) return false;
    label = history_.undo_label();
    history_.undo();
  } else if (good_->scenario == history_.current()) {
    asked_ = history_.current();
    error_.clear();
    return true;
  }
  submit({Request::Kind::undo, history_.current(), label, false});
  return true;
}

bool Session::cancel() {
  if (!computing()) return false;
  if (awaited_) {
    drop_awaited();
    last_edit_ = cancelled_words;
    return true;
  }
  History back = history_;
  while (!(back.current() == good_->scenario) && back.redo()) {
  }
  while (!(back.current() == good_->scenario) && back.undo()) {
  }
  if (!(back.current() == good_->scenario)) return false;
  abandon();
  history_ = std::move(back);
  history_.end_step();
  asked_ = history_.current();
  error_.clear();
  last_edit_ = cancelled_words;
  return true;
}

bool Session::redo() {
  if (!history_.can_redo()) return false;
  abandon();
  const std::string label = history_.redo_label();
  history_.redo();
  submit({Request::Kind::redo, history_.current(), label, false});
  return true;
}

void Session::return_to(const History& history, const std::string& label) {
  drop_awaited();
  abandon();
  history_ = history;
  history_.end_step();
  submit({Request::Kind::back, history_.current(), label, false});
}

void Session::submit(Request request) {
  asked_ = request.scenario;
  error_.clear();
  if (computes_at_once(request.scenario)) {
    abandon();  // what is under way was requested earlier
    std::string error = error_of([&] { adopt(request, compute(request.scenario, good_.get())); });
    if (!error.empty()) refuse(std::move(request), without_scenario_prefix(error));
    return;
  }
  if (worker_.busy()) {
    // A drag shows intermediate results; what takes longer than that would only delay the current request.
    if (worker_.waiting().seconds > patience) abandon();
    next_ = std::move(request);
  } else {
    start(std::move(request));
  }
}

void Session::start(Request request) {
  worker_.start([this, scenario = request.scenario, previous = good_] {
    arrived_error_ = error_of([&] { arrived_ = compute(scenario, previous.get()); });
  });
  running_ = std::move(request);
}

void Session::refuse(Request request, std::string error) {
  if (request.alone) {
    Request alone{Request::Kind::edit, *std::move(request.alone), request.label, request.continues};
    alone.error_before = std::move(request.error_before);
    alone.both = std::move(request.scenario);
    alone.error_of_both = std::move(error);
    return submit(std::move(alone));
  }
  error_ = std::move(error);
  if (!request.both) return;
  if (request.error_of_both == request.error_before || request.error_of_both == error_) {
    // The earlier error and the current one have nothing to do with each other.
    last_edit_ = put_back_sentence(*request.both, request.scenario);
  } else {
    asked_ = *std::move(request.both);
    error_ = std::move(request.error_of_both);
  }
}

void Session::adopt(const Request& request, ComputationPtr computation) {
  const ComputationPtr before = good_;
  good_ = std::move(computation);
  if (request.kind != Request::Kind::edit) {
    step_base_ = good_;
    const auto summary = request.kind == Request::Kind::undo ? undo_summary : edit_summary;
    last_edit_ = (request.kind == Request::Kind::redo ? "Redone. " : "") +
                 summary(request.label, before->scenario, *before->trace, good_->scenario, *good_->trace);
    return;
  }
  if (!history_.push(request.scenario, request.label, request.continues)) step_base_ = before;
  last_edit_ =
      (request.both ? put_back_sentence(*request.both, good_->scenario) : "") +
      edit_summary(request.label, step_base_->scenario, *step_base_->trace, good_->scenario, *good_->trace);
}

bool Session::poll() {
  const bool model = model_worker_.ended(short_wait);
  if (model) take_in_model();
  const bool result = worker_.ended(short_wait);
  if (result) collect_results();
  return model || result;
}

void Session::finish() {
  while (true) {
    if (model_worker_.finish())
      take_in_model();
    else if (worker_.finish())
      collect_results();
    else
      return;
  }
}

void Session::collect_results() {
  ComputationPtr computation = std::exchange(arrived_, nullptr);
  if (const std::optional<Request> request = std::exchange(running_, std::nullopt)) {
    if (computation) {
      adopt(*request, std::move(computation));
    } else if (!next_) {
      refuse(*request, without_scenario_prefix(arrived_error_));
    }
  }
  if (next_) start(*std::exchange(next_, std::nullopt));
}

}  // namespace headwise
