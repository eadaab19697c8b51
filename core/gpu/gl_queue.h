// The current OpenGL context as a queue of work, timed by timer queries.
#pragma once

#include <chrono>
#include <deque>

#include "core/gpu/gpu_queue.h"
#include "core/gpu/object.h"

namespace headwise {

// A timer query, which begins when it is made: glEndQuery(GL_TIME_ELAPSED) ends it.
struct TimerQueryKind {
  static GLuint create() {
    GLuint name = 0;
    glGenQueries(1, &name);
    glBeginQuery(GL_TIME_ELAPSED, name);  // only binding creates an object that can be labelled
    return name;
  }
  static void destroy(GLuint name) { glDeleteQueries(1, &name); }
  static constexpr GLenum identifier = GL_QUERY;
};
using TimerQuery = gl::Object<TimerQueryKind>;

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
