#include "core/gpu/gpu_work.h"

#include <algorithm>

namespace headwise {
namespace {

constexpr double first_rate = 2e6;  // a guess below any GPU, so that the first slice is short everywhere
constexpr std::size_t slices_under_way = 2;  // the next one waits in the queue when one ends

}  // namespace

GLuint GpuWork::QueryKind::create() {
  GLuint name = 0;
  glGenQueries(1, &name);
  glBeginQuery(GL_TIME_ELAPSED, name);  // only binding creates an object that can be labelled
  return name;
}

void GpuWork::QueryKind::destroy(GLuint name) {
  glDeleteQueries(1, &name);
}

void GpuWork::begin() {
  if (!jobs_.empty() || !under_way_.empty()) return;
  added_ = handed_ = 0.0;
  units_.clear();
}

void GpuWork::add(GpuJob job) {
  units_[job.kind] += job.units;
  added_ += job.work * static_cast<double>(job.units);
  if (job.units > 0) jobs_.push_back(std::move(job));
}

bool GpuWork::collect(bool wait) {
  Slice& slice = under_way_.front();
  GLuint ready = GL_FALSE;
  if (!wait) glGetQueryObjectuiv(slice.query.name(), GL_QUERY_RESULT_AVAILABLE, &ready);
  if (!wait && ready != GL_TRUE) return false;
  GLuint64 nanoseconds = 0;
  glGetQueryObjectui64v(slice.query.name(), GL_QUERY_RESULT, &nanoseconds);
  // A software driver may report the machine's uptime: the time cannot exceed the time spent waiting.
  const double waited =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - slice.begun).count();
  const double milliseconds = std::min(static_cast<double>(nanoseconds) * 1e-6, waited);
  total_ += milliseconds;
  longest_ = std::max(longest_, milliseconds);
  // A clock that does not tick says nothing; a rate grows at most fourfold at a time, because a first slice may be tiny.
  if (milliseconds > 0.0) {
    double& rate = rate_.try_emplace(slice.kind, first_rate).first->second;
    rate = std::min(slice.work / milliseconds, 4.0 * rate);
  }
  under_way_.pop_front();
  return true;
}

bool GpuWork::advance(double milliseconds, bool wait) {
  while (!under_way_.empty() && collect(false)) {
  }
  const bool full = jobs_.empty() || under_way_.size() >= slices_under_way;
  if (full && !under_way_.empty() && wait) collect(true);
  if (jobs_.empty()) return !under_way_.empty();
  if (under_way_.size() >= slices_under_way) return true;

  GpuJob& job = jobs_.front();
  const double rate = rate_.try_emplace(job.kind, first_rate).first->second;
  const double wanted = milliseconds * rate / std::max(job.work, 1.0);
  const Index count = std::clamp<Index>(static_cast<Index>(std::min(wanted, 1e9)), 1, job.units - next_unit_);
  Slice slice{gl::Object<QueryKind>("slice of " + job.kind), job.kind, job.work * static_cast<double>(count),
              std::chrono::steady_clock::now()};
  job.dispatch(next_unit_, count);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  glEndQuery(GL_TIME_ELAPSED);
  glFlush();
  handed_ += slice.work;
  under_way_.push_back(std::move(slice));
  next_unit_ += count;
  if (next_unit_ == job.units) {
    jobs_.pop_front();
    next_unit_ = 0;
  }
  return true;
}

Index GpuWork::units(const std::string& kind) const {
  const auto at = units_.find(kind);
  return at == units_.end() ? 0 : at->second;
}

double GpuWork::progress() const {
  return added_ > 0.0 ? handed_ / added_ : 1.0;
}

}  // namespace headwise
