#include "core/gpu/gl_queue.h"

namespace headwise {
namespace {

constexpr double least_plausible = 0.001;  // milliseconds: no GPU launches a shader in less

double milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

void GlQueue::barrier() {
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
}

void GlQueue::begin_piece() {
  const auto now = Clock::now();
  pieces_.push_back({TimerQuery("piece of work"), now, now});
}

void GlQueue::end_piece() {
  glEndQuery(GL_TIME_ELAPSED);
  pieces_.back().ended = Clock::now();
}

void GlQueue::submit() {
  glFlush();
}

std::optional<double> GlQueue::take_time(bool wait) {
  if (pieces_.empty()) return std::nullopt;
  const Piece& piece = pieces_.front();
  GLuint ready = GL_FALSE;
  if (!wait) glGetQueryObjectuiv(piece.query.name(), GL_QUERY_RESULT_AVAILABLE, &ready);
  if (!wait && ready != GL_TRUE) return std::nullopt;
  GLuint64 nanoseconds = 0;
  glGetQueryObjectui64v(piece.query.name(), GL_QUERY_RESULT, &nanoseconds);
  double time = static_cast<double>(nanoseconds) * 1e-6;
  // A software driver computes within the call, and its timer reports the machine's uptime,
  // or some nanoseconds.
  const bool plausible = time >= least_plausible && time <= milliseconds(Clock::now() - piece.begun);
  if (!plausible) time = milliseconds(piece.ended - piece.begun);
  pieces_.pop_front();
  return time;
}

}  // namespace headwise
