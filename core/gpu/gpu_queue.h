// What GpuWork needs of a GPU: an order between pieces of work, and the time each takes.
// A test gives it a simulated card.
#pragma once

#include <optional>

namespace headwise {

class GpuQueue {
 public:
  virtual ~GpuQueue() = default;

  // Whatever is dispatched after this sees what was written before it.
  virtual void barrier() = 0;
  // Times what is dispatched between the two, without waiting for it. Pieces do not overlap in the order of
  // calls, though the GPU may begin one before the previous one has ended.
  virtual void begin_piece() = 0;
  virtual void end_piece() = 0;
  // Hands everything dispatched so far to the GPU.
  virtual void submit() = 0;
  // The oldest piece whose time has not been taken yet: milliseconds from the end of the piece before it, or
  // from its own beginning if that is later, to its end. nullopt while it runs, unless `wait`.
  virtual std::optional<double> take_time(bool wait) = 0;
};

}  // namespace headwise
