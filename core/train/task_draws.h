// The random numbers of one example of a task.
#pragma once

#include <span>
#include <string>

#include "core/tensor/random.h"
#include "core/train/train_task.h"

namespace headwise {

// Draws one number after the other; those of two examples, two splits or two tasks are independent.
class TaskDraws {
 public:
  TaskDraws(std::string_view task, TaskSplit split, std::uint64_t seed, Index number)
      : random_(seed, std::string(task) + (split == TaskSplit::training ? " training" : " held out")),
        next_(static_cast<std::uint64_t>(number) << 20) {}

  // 0 … bound − 1
  Index below(Index bound) {
    return static_cast<Index>(random_.bits(next_++) % static_cast<std::uint64_t>(bound));
  }

  // Puts the first `count` entries of a random permutation of `pool` to its front (Fisher and Yates).
  void shuffle(std::span<std::int32_t> pool, Index count) {
    for (Index i = 0; i < count; ++i)
      std::swap(pool[static_cast<std::size_t>(i)],
                pool[static_cast<std::size_t>(i + below(std::ssize(pool) - i))]);
  }

 private:
  CounterRandom random_;
  std::uint64_t next_;
};

}  // namespace headwise
