#include "core/full_size/weight_blocks.h"

#include <algorithm>
#include <limits>

#include "core/tensor/cancellation.h"
#include "core/tensor/memory.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr Index numbers_per_block = 3;

// Rows computed at a time: few enough to stay in the cache until they are added to their blocks.
constexpr Index rows_at_once = 64;

// A NaN stays, in either argument.
float least(float a, float b) {
  return b < a || b != b ? b : a;
}

float largest(float a, float b) {
  return b > a || b != b ? b : a;
}

}  // namespace

Index level_bytes(Index block, Index queries, Index keys) {
  return whole_parts(queries, block) * whole_parts(keys, block) * numbers_per_block *
         static_cast<Index>(sizeof(float));
}

PyramidLevel empty_level(Index block, Index queries, Index keys) {
  PyramidLevel level;
  level.block = block;
  level.rows = whole_parts(queries, block);
  level.cols = whole_parts(keys, block);
  const auto size = static_cast<std::size_t>(level.rows * level.cols);
  level.min.assign(size, infinity);
  level.max.assign(size, -infinity);
  level.mean.assign(size, 0.0f);
  return level;
}

void add_rows(PyramidLevel& level, const float* weights, Index step, Index first, Index rows, Index keys) {
  for (Index r = 0; r < rows; ++r) {
    const float* const row = weights + r * step;
    const auto at = static_cast<std::size_t>((first + r) / level.block * level.cols);
    for (Index c = 0; c < level.cols; ++c) {
      const Index begin = c * level.block, end = std::min(begin + level.block, keys);
      float low = infinity, high = -infinity, sum = 0.0f;
      for (Index key = begin; key < end; ++key) {
        low = std::min(low, row[key]);
        high = std::max(high, row[key]);
        sum += row[key];
      }
      if (sum != sum) low = high = sum;
      const std::size_t i = at + static_cast<std::size_t>(c);
      level.min[i] = least(level.min[i], low);
      level.max[i] = largest(level.max[i], high);
      level.mean[i] += sum;
    }
  }
}

float cells_of(const PyramidLevel& level, Index r, Index c, Index queries, Index keys) {
  const Index rows = std::min(level.block, queries - r * level.block);
  return static_cast<float>(rows * std::min(level.block, keys - c * level.block));
}

void finish_means(PyramidLevel& level, Index queries, Index keys) {
  for (Index r = 0; r < level.rows; ++r)
    for (Index c = 0; c < level.cols; ++c)
      level.mean[static_cast<std::size_t>(r * level.cols + c)] /= cells_of(level, r, c, queries, keys);
}

PyramidLevel coarser(const PyramidLevel& fine, Index queries, Index keys) {
  PyramidLevel level = empty_level(2 * fine.block, queries, keys);
  for (Index r = 0; r < fine.rows; ++r)
    for (Index c = 0; c < fine.cols; ++c) {
      const auto from = static_cast<std::size_t>(r * fine.cols + c);
      const auto to = static_cast<std::size_t>(r / 2 * level.cols + c / 2);
      level.min[to] = least(level.min[to], fine.min[from]);
      level.max[to] = largest(level.max[to], fine.max[from]);
      level.mean[to] +=
          fine.mean[from] * cells_of(fine, r, c, queries, keys) / cells_of(level, r / 2, c / 2, queries, keys);
    }
  return level;
}

PyramidLevel weight_blocks(const WeightTiles& tiles, Index n, Index h, Index block, CellRange queries,
                           CellRange keys) {
  PyramidLevel level = empty_level(block, queries.size(), keys.size());
  std::vector<float> weights(static_cast<std::size_t>(std::min(rows_at_once, queries.size()) * keys.size()));
  for (Index first = queries.first; first < queries.last; first += rows_at_once) {
    check_cancelled();
    const CellRange some{first, std::min(first + rows_at_once, queries.last)};
    tiles.tile(n, h, some, keys, weights.data());
    add_rows(level, weights.data(), keys.size(), first - queries.first, some.size(), keys.size());
  }
  finish_means(level, queries.size(), keys.size());
  return level;
}

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
