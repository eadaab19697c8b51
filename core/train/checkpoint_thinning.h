// Keeps the number of a run's checkpoints bounded: ever fewer of them stay as the run grows, evenly spaced.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/train/training_run.h"

namespace headwise {

// The steps (ascending) that go when at most `most` ≥ 3 of them may stay. The first and the last stay; of the
// others those that are a multiple of a spacing away from the first, which begins as that of the first two
// and doubles until few enough are left.
std::vector<Index> steps_to_drop(std::span<const Index> steps, Index most);

// Removes checkpoints of a folder in that way. One that is being removed is no checkpoint any more:
// none is ever half there.
void thin_out_checkpoints(const std::string& folder, Index most);

// Bytes of the arrays in one checkpoint of such a run, of numbers with `value_bytes` bytes.
Index checkpoint_bytes(const TrainingSettings& settings, Index value_bytes);

}  // namespace headwise
