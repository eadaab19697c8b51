// What a model can be trained to do: tasks whose examples are drawn by counter-based random numbers, so that
// example n of a seed is the same whenever it is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/random.h"
#include "core/train/train_pass.h"

namespace headwise {

// Two streams that share no example by intent: held-out examples are never trained on. (Two random sequences
// may still be equal, where a task has few;
// the pairs of modular addition and the parts of a text are disjoint.)
enum class TaskSplit { training, held_out };

struct TrainTask {
  std::string name;  // "induction", as on the command line
  std::string what;  // one sentence: what is asked, and what attention must find
  Index layers = 1;  // that it usually takes
  Index vocabulary = 0;
  Index length = 0;                      // of each sequence
  std::vector<std::string> token_texts;  // of each token, as people see it
  std::string note = {};  // what was chosen because of the task's text, a sentence; empty: nothing

  // Example `number` ≥ 0 of a seed: its tokens, and what the model should say at each of them, or −1 where
  // that is not determined. Both have `length` entries.
  std::function<void(TaskSplit split, std::uint64_t seed, Index number, std::span<std::int32_t> tokens,
                     std::span<std::int32_t> targets)>
      example;
};

// How large a task is; null: as usual for it.
struct TaskSizes {
  std::optional<Index> length = std::nullopt;   // of a sequence
  std::optional<Index> symbols = std::nullopt;  // different words, numbers or keys
};

// What a named task can have, and usually has.
struct TaskSizeRange {
  Index usual, least, most;
  Index multiple = 1;  // of which it must be one
};
struct TaskSizeRanges {
  TaskSizeRange length, symbols;
};
// Throws Error(usage) if there is no task of that name.
TaskSizeRanges task_size_ranges(const std::string& name);

struct TaskEntry {
  std::string_view name;
  std::string_view what;
};
// The tasks that have a name, in the order of a menu.
std::span<const TaskEntry> task_entries();

// Throws Error(usage) if there is no task of that name (it lists them), or the sizes are out of its range.
TrainTask named_task(const std::string& name, const TaskSizes& sizes = {});

// Predicts each next character of a text. The first nine tenths of it are trained on, the rest is held out.
// Without a length sequences have 64 characters, or as many as a shorter text allows, which `note` says.
// Throws Error(input) that begins with `where` if the text is not UTF-8, has fewer than two different
// characters or more than 65,536, or is too short for the length or for any: fewer than 20 characters.
TrainTask text_task(const std::string& text, const std::string& where,
                    std::optional<Index> length = std::nullopt);

// A task whose examples are written out in JSON:
//   { "headwise_task": 1, "name": "capitals", "what": "Say the capital of a country.", "layers": 1,
//     "examples": [ { "tokens": ["France", "?"], "targets": [null, "Paris"] }, … ],
//     "held_out": [ … ] }
// "layers" may be missing (1), and so may "held_out": then every fifth example is. Without "targets" each token asks for the next one.
// Shorter examples are filled up with a token "(end)" at which nothing is asked. Throws Error(input)
// that begins with `where`.
TrainTask json_task(const std::string& text, const std::string& where);

// Examples [first, first + batch.sequences) of a seed; allocates only if the batch has had another size.
void fill_batch(const TrainTask& task, TaskSplit split, std::uint64_t seed, Index first, TrainBatch& batch);

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
