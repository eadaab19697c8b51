#include "core/full_size/weight_pyramid.h"

#include <algorithm>

#include "core/tensor/memory.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Of this and all coarser levels.
Index levels_bytes(Index block, Index queries, Index keys) {
  Index bytes = 0;
  for (;; block *= 2) {
    bytes += level_bytes(block, queries, keys);
    if (whole_parts(queries, block) * whole_parts(keys, block) <= 1) return bytes;
  }
}

}  // namespace

WeightPyramid::WeightPyramid(WeightTiles& tiles) : head_count_(tiles.sizes().heads) {
  const AttentionSizes& s = tiles.sizes();
  const Index heads = s.batch * s.heads;
  Index block = 1;
  while (heads * levels_bytes(block, s.queries, s.all_keys) > most_bytes &&
         block < std::max(s.queries, s.all_keys))
    block *= 2;
  require_memory(heads * levels_bytes(block, s.queries, s.all_keys), "the maps of all heads");
  heads_.resize(static_cast<std::size_t>(heads));
  for (std::vector<PyramidLevel>& levels : heads_)
    levels.push_back(empty_level(block, s.queries, s.all_keys));

  // Rows of one task are in blocks of their own.
  const Index rows_of_task = whole_parts(WeightTiles::most_queries, block) * block;
  const Index tasks = whole_parts(s.queries, rows_of_task);
  const int threads = available_threads();
  std::vector<WeightTiles::Scratch> scratch(static_cast<std::size_t>(threads));
  run_tasks(heads * tasks, threads, [&](Index task, int worker) {
    WeightTiles::Scratch& own = scratch[static_cast<std::size_t>(worker)];
    if (own.scores.size() == 0) own = tiles.scratch();
    const Index n = task / tasks / s.heads, h = task / tasks % s.heads;
    const Index begin = task % tasks * rows_of_task, end = std::min(begin + rows_of_task, s.queries);
    PyramidLevel& level = heads_[static_cast<std::size_t>(n * s.heads + h)].front();
    for (Index first = begin; first < end; first += WeightTiles::most_queries) {
      const CellRange queries{first, std::min(first + WeightTiles::most_queries, end)};
      add_rows(level, tiles.strip(n, h, queries, own), tiles.step(), first, queries.size(), s.all_keys);
    }
  });
  run_tasks(heads, threads, [&](Index task, int) {
    std::vector<PyramidLevel>& levels = heads_[static_cast<std::size_t>(task)];
    finish_means(levels.front(), s.queries, s.all_keys);
    while (levels.back().rows * levels.back().cols > 1)
      levels.push_back(coarser(levels.back(), s.queries, s.all_keys));
  });
}

Index WeightPyramid::bytes() const {
  std::size_t numbers = 0;
  for (const std::vector<PyramidLevel>& levels : heads_)
    for (const PyramidLevel& level : levels)
      numbers += level.min.size() + level.max.size() + level.mean.size();
  return static_cast<Index>(numbers * sizeof(float));
}

}  // namespace headwise
