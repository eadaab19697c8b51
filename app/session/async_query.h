// An answer that takes a while, computed in a thread of its own when first requested, one question at a time;
// a short one is computed at once. A new question cancels the work under way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "app/session/worker.h"

namespace headwise {

// Question: copied, and compared with ==. Answer: what `make` returns; `make` is called on the thread, may
// throw, and finds the thread's cancellation and progress set up (core/tensor/cancellation.h, progress.h).
template <class Question, class Answer>
class AsyncQuery {
 public:
  using AnswerPtr = std::shared_ptr<const Answer>;
  struct Outcome {
    Question question;
    AnswerPtr answer;   // null: there is none
    std::string error;  // why
  };
  using OutcomePtr = std::shared_ptr<const Outcome>;
  using IsShort = std::function<bool(const Question&)>;

  // `make(question)`, or `make(question, before)` with the last known answer to share data with (an
  // AnswerPtr, may be null). `wake` is called from the thread when an outcome can be taken; it may be empty.
  // `is_short`: questions answered within of(), without a thread; empty: none. `no_memory` as in error_of.
  template <class Make>
  AsyncQuery(Make make, std::function<void()> wake, IsShort is_short = {},
             const char* no_memory = "this does not fit in memory: make the text shorter")
      : make_([make = std::move(make)](const Question& question, const AnswerPtr& before) -> Answer {
          if constexpr (std::is_invocable_v<const Make&, const Question&>) {
            return make(question);
          } else {
            return make(question, before);
          }
        }),
        is_short_(std::move(is_short)),
        no_memory_(no_memory),
        worker_(std::move(wake)) {}

  // Null while the answer is computed. That starts here,
  // or as soon as the cancelled work under way has ended; never waits.
  OutcomePtr of(const Question& question) {
    collect_results();
    if (running()) {
      if (is_known(question) || running_ != question) worker_.cancel();
    } else if (!is_known(question)) {
      ++begun_;
      const AnswerPtr before = known_ ? known_->answer : nullptr;
      if (is_short_ && is_short_(question)) {
        known_ = outcome_of(question, before);
      } else {
        running_ = question;
        worker_.start([this, question, before] { arrived_ = outcome_of(question, before); });
      }
    }
    return is_known(question) ? known_ : nullptr;
  }
  // The same if already known; starts nothing.
  OutcomePtr cached(const Question& question) {
    collect_results();
    return is_known(question) ? known_ : nullptr;
  }
  // The last outcome taken in, for any question; null: none.
  const OutcomePtr& known() const { return known_; }
  // No answer is needed now: cancels the work under way and keeps what is known.
  void suspend() {
    collect_results();
    worker_.cancel();
  }
  // The same, and discards what is known.
  void forget() {
    suspend();
    known_.reset();
  }
  // How many computations have been started.
  int begun() const { return begun_; }
  bool running() const { return worker_.busy(); }
  // Progress of the work under way, if any.
  Waiting waiting() const { return worker_.waiting(); }
  // Waits for the work under way (tests, and pictures of the window).
  void finish() {
    if (worker_.finish()) keep_arrived();
  }

 private:
  bool is_known(const Question& question) const { return known_ && known_->question == question; }
  OutcomePtr outcome_of(const Question& question, const AnswerPtr& before) const {
    auto outcome = std::make_shared<Outcome>(Outcome{question, nullptr, ""});
    outcome->error = error_of(
        [&] { outcome->answer = std::make_shared<const Answer>(make_(question, before)); }, no_memory_);
    return outcome;
  }
  void collect_results() {
    if (worker_.ended()) keep_arrived();
  }
  void keep_arrived() {
    running_.reset();
    // An answer found despite the cancellation is as good as any;
    // the error caused by the cancellation is dropped.
    if (!worker_.cancelled() || arrived_->answer) known_ = arrived_;
    arrived_.reset();
  }

  std::function<Answer(const Question&, const AnswerPtr&)> make_;
  IsShort is_short_;
  const char* no_memory_;
  int begun_ = 0;
  OutcomePtr known_;
  std::optional<Question> running_;  // what is under way
  OutcomePtr arrived_;               // written by the thread
  Worker worker_;
};

}  // namespace headwise
