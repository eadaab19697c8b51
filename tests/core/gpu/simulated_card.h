// A GPU on paper: a clock that charges for work groups over processors,
// for tests of what is handed over when.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "core/gpu/gpu_queue.h"
#include "core/tensor/shape.h"

namespace headwise::test {

// Work groups begin in the order in which they were dispatched, each on the first processor that is free;
// dispatches overlap unless a barrier stands between them. All times in milliseconds.
class SimulatedCard : public GpuQueue {
 public:
  struct Properties {
    int processors = 1;
    double speed = 1e6;     // multiply-adds of one processor per millisecond
    double launch = 0.005;  // of a dispatch, in order
    double latency = 0.1;   // from the end of a piece to its time
    double group = 0.001;   // of a work group, besides its multiply-adds
  };
  explicit SimulatedCard(const Properties& properties)
      : card_(properties),
        free_at_({}, std::vector<double>(static_cast<std::size_t>(properties.processors), 0.0)) {}

  // Groups of as many multiply-adds each as `work_of` says.
  void dispatch(Index groups, const std::function<double(Index)>& work_of) {
    double begin = std::max(front_, now_);
    if (barrier_) begin = std::max(begin, ended_);
    barrier_ = false;
    front_ = begin + card_.launch;
    for (Index group = 0; group < groups; ++group) {
      const double work = work_of(group), start = std::max(free_at_.top(), front_);
      const double time = work / card_.speed + card_.group;
      free_at_.pop();
      free_at_.push(start + time);
      front_ = start;
      ended_ = std::max(ended_, start + time);
      busy_ += work / card_.speed;
      longest_group_ = std::max(longest_group_, time);
    }
  }

  void barrier() override { barrier_ = true; }
  void begin_piece() override { piece_begun_ = std::max({front_, now_, ended_}); }
  void end_piece() override { pieces_.push_back({ended_, std::max(0.0, ended_ - piece_begun_)}); }
  void submit() override {}
  std::optional<double> take_time(bool wait) override {
    if (pieces_.empty()) return std::nullopt;
    const Piece piece = pieces_.front();
    const double told = piece.ended + card_.latency;
    if (told > now_ && !wait) return std::nullopt;
    now_ = std::max(now_, told);
    pieces_.pop_front();
    return piece.milliseconds;
  }

  // Of the processors, from now on: one that is too hot, or shared, is slower.
  void set_speed(double speed) { card_.speed = speed; }

  void pass(double milliseconds) { now_ += milliseconds; }  // on the processor, which does something else
  double now() const { return now_; }
  double ended() const { return ended_; }  // when everything dispatched is done
  double busy() const { return busy_; }    // of all processors, multiply-adds only
  double longest_group() const { return longest_group_; }

 private:
  struct Piece {
    double ended, milliseconds;
  };
  Properties card_;
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at_;
  std::deque<Piece> pieces_;
  bool barrier_ = false;
  double now_ = 0.0, front_ = 0.0, ended_ = 0.0, busy_ = 0.0, longest_group_ = 0.0, piece_begun_ = 0.0;
};

}  // namespace headwise::test
