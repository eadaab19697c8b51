// Splits GPU work into slices of a few milliseconds, so that a window keeps its frame rate and no driver assumes that
// the GPU hangs. How much fits in a slice is measured along the way.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/gpu/object.h"
#include "core/tensor/shape.h"

namespace headwise {

struct GpuJob {
  std::string kind;   // jobs of one kind run at the same rate
  Index units = 0;    // dispatched in groups of any size, in order
  double work = 0.0;  // multiply-adds of one unit
  std::function<void(Index first, Index count)> dispatch;
};

class GpuWork {
 public:
  // Resets the counts, once everything is done.
  void begin();
  // Runs after the jobs added before, and sees what they wrote.
  void add(GpuJob job);

  // Submits about this many milliseconds of work, unless two slices are still in flight; true until everything is done.
  // With `wait` it waits for one of them instead of returning with nothing done.
  bool advance(double milliseconds, bool wait);

  double progress() const;  // 0 … 1, of what was added since begin()
  // Units of this kind added since begin().
  Index units(const std::string& kind) const;
  double gpu_milliseconds() const { return total_; }
  double longest_slice() const { return longest_; }  // milliseconds

 private:
  struct QueryKind {
    static GLuint create();
    static void destroy(GLuint name);
    static constexpr GLenum identifier = GL_QUERY;
  };
  struct Slice {
    gl::Object<QueryKind> query;
    std::string kind;
    double work = 0.0;
    std::chrono::steady_clock::time_point begun;
  };
  bool collect(bool wait);  // the oldest slice in flight; false while it runs

  std::deque<GpuJob> jobs_;
  Index next_unit_ = 0;  // of the first job
  std::deque<Slice> under_way_;
  std::map<std::string, double> rate_;  // multiply-adds per millisecond
  std::map<std::string, Index> units_;
  double added_ = 0.0, handed_ = 0.0, total_ = 0.0, longest_ = 0.0;
};

}  // namespace headwise
