// An answer that takes a while, made in a thread of its own when it is first asked for, one question at a time; a short one at
// once. Another question than before gives up what is under way.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/session/waiting.h"
#include "core/tensor/cancellation.h"

namespace headwise {

// Question: copied, and compared with ==. Answer: what `make` returns; it is called from the thread, may throw, and finds the
// thread's cancellation and progress set up (core/tensor/cancellation.h, progress.h).
template <class Question, class Answer>
class AskedWork {
 public:
  struct Outcome {
    Question question;
    std::shared_ptr<const Answer> answer;  // null: there is none
    std::string error;                     // why
  };
  using OutcomePtr = std::shared_ptr<const Outcome>;
  using Make = std::function<Answer(const Question&)>;

  using IsShort = std::function<bool(const Question&)>;

  // `wake` is called from the thread when an outcome can be taken; it may be empty. `is_short`: what is made within of(),
  // without a thread; empty: nothing.
  AskedWork(Make make, std::function<void()> wake, IsShort is_short = {})
      : make_(std::move(make)), wake_(std::move(wake)), is_short_(std::move(is_short)) {}
  // Gives up what is under way and waits until it has noticed.
  ~AskedWork() {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
  }
  AskedWork(const AskedWork&) = delete;
  AskedWork& operator=(const AskedWork&) = delete;

  // Null while it is made, which begins here, or when what is under way has noticed that nobody wants it; never waits.
  OutcomePtr of(const Question& question) {
    take_in();
    if (thread_.joinable()) {
      if (is_known(question) || running_ != question) cancelled_ = true;
    } else if (!is_known(question)) {
      ++begun_;
      if (is_short_ && is_short_(question)) {
        known_ = outcome_of(question);
      } else {
        start(question);
      }
    }
    return is_known(question) ? known_ : nullptr;
  }
  // The same where it is known already; nothing begins.
  OutcomePtr at_hand(const Question& question) {
    take_in();
    return is_known(question) ? known_ : nullptr;
  }
  // Nobody wants an answer now: what is under way is given up, what is known is kept.
  void rest() {
    take_in();
    if (thread_.joinable()) cancelled_ = true;
  }
  // The same, and what is known is let go.
  void forget() {
    rest();
    known_.reset();
  }
  // How many answers have been begun.
  int begun() const { return begun_; }
  bool running() const { return thread_.joinable(); }
  // How far what is under way has come, where something is.
  Waiting waiting() const { return thread_.joinable() ? clock_.waiting() : Waiting{}; }
  // Waits for what is under way (tests, and pictures of the window).
  void finish() {
    if (thread_.joinable()) thread_.join();
    take_in();
  }

 private:
  bool is_known(const Question& question) const { return known_ && known_->question == question; }
  OutcomePtr outcome_of(const Question& question) const {
    auto outcome = std::make_shared<Outcome>(Outcome{question, nullptr, ""});
    try {
      outcome->answer = std::make_shared<const Answer>(make_(question));
    } catch (const std::bad_alloc&) {
      outcome->error = "this does not fit in memory: make the text shorter";
    } catch (const std::exception& error) {
      outcome->error = error.what();
    }
    return outcome;
  }
  void start(const Question& question) {
    cancelled_ = false;
    running_ = question;
    clock_.begin();
    thread_ = std::thread([this, question] {
      const CancelScope scope(cancelled_);
      const ProgressScope told(clock_.progress());
      OutcomePtr outcome = outcome_of(question);
      {
        const std::lock_guard lock(mutex_);
        arrived_ = std::move(outcome);
      }
      if (wake_) wake_();
    });
  }
  void take_in() {
    OutcomePtr arrived;
    {
      const std::lock_guard lock(mutex_);
      arrived = std::exchange(arrived_, nullptr);
    }
    if (!arrived) return;
    if (thread_.joinable()) thread_.join();
    running_.reset();
    // An answer that was found although it was given up is as good as any; the error of giving up is none.
    if (!cancelled_ || arrived->answer) known_ = std::move(arrived);
  }

  Make make_;
  std::function<void()> wake_;
  IsShort is_short_;
  int begun_ = 0;
  OutcomePtr known_;
  std::optional<Question> running_;  // what is under way
  std::mutex mutex_;
  OutcomePtr arrived_;  // written by the thread
  std::atomic<bool> cancelled_ = false;
  WaitingClock clock_;
  std::thread thread_;
};

}  // namespace headwise
