// An answer that takes a while, made in a thread of its own when it is first asked for, one question at a time; a short one at
// once. Another question than before gives up what is under way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "app/session/worker.h"

namespace headwise {

// Question: copied, and compared with ==. Answer: what `make` returns; it is called from the thread, may throw, and finds the
// thread's cancellation and progress set up (core/tensor/cancellation.h, progress.h).
template <class Question, class Answer>
class AskedWork {
 public:
  using AnswerPtr = std::shared_ptr<const Answer>;
  struct Outcome {
    Question question;
    AnswerPtr answer;   // null: there is none
    std::string error;  // why
  };
  using OutcomePtr = std::shared_ptr<const Outcome>;
  using IsShort = std::function<bool(const Question&)>;

  // `make(question)`, or `make(question, before)` with the answer known so far to share with (an AnswerPtr, may be null).
  // `wake` is called from the thread when an outcome can be taken; it may be empty. `is_short`: what is made within of(),
  // without a thread; empty: nothing. `no_memory` as in error_of.
  template <class Make>
  AskedWork(Make make, std::function<void()> wake, IsShort is_short = {},
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

  // Null while it is made, which begins here, or when what is under way has noticed that nobody wants it; never waits.
  OutcomePtr of(const Question& question) {
    take_in();
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
  // The same where it is known already; nothing begins.
  OutcomePtr at_hand(const Question& question) {
    take_in();
    return is_known(question) ? known_ : nullptr;
  }
  // The last outcome that was taken in, of any question; null: none.
  const OutcomePtr& known() const { return known_; }
  // Nobody wants an answer now: what is under way is given up, what is known is kept.
  void rest() {
    take_in();
    worker_.cancel();
  }
  // The same, and what is known is let go.
  void forget() {
    rest();
    known_.reset();
  }
  // How many answers have been begun.
  int begun() const { return begun_; }
  bool running() const { return worker_.busy(); }
  // How far what is under way has come, where something is.
  Waiting waiting() const { return worker_.waiting(); }
  // Waits for what is under way (tests, and pictures of the window).
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
  void take_in() {
    if (worker_.ended()) keep_arrived();
  }
  void keep_arrived() {
    running_.reset();
    // An answer that was found although it was given up is as good as any; the error of giving up is none.
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
