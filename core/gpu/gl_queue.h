// The current OpenGL context as a queue of work, timed by timer queries.
#pragma once

#include <chrono>
#include <deque>

#include "core/gpu/gpu_queue.h"
#include "core/gpu/timer_query.h"

namespace headwise {

class GlQueue : public GpuQueue {
 public:
  void barrier() override;
  void begin_piece() override;
  void end_piece() override;
  void submit() override;
  std::optional<double> take_time(bool wait) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Piece {
    TimerQuery query;
    Clock::time_point begun, ended;  // on the processor
  };
  std::deque<Piece> pieces_;
};

}  // namespace headwise
