// The current OpenGL context as a queue of work, timed by timer queries.
#pragma once

#include <chrono>
#include <deque>

#include "core/gpu/gpu_queue.h"
#include "core/gpu/object.h"

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
  struct QueryKind {
    static GLuint create();
    static void destroy(GLuint name);
    static constexpr GLenum identifier = GL_QUERY;
  };
  struct Piece {
    gl::Object<QueryKind> query;
    Clock::time_point begun, ended;  // on the processor
  };
  std::deque<Piece> pieces_;
};

}  // namespace headwise
