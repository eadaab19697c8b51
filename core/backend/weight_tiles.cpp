#include "core/backend/weight_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/attention/heads.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/fused/fused_row_path.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr float no_bound = std::numeric_limits<float>::infinity();
// The kernels round columns up to whole vectors.
constexpr Index room = 16;

const float* tile_numbers(const TensorPtr& tensor) {
  return tensor->values<float>().data();
}

Index step_of(Index keys) {
  return whole_parts(keys, room) * room + room;
}

}  // namespace

WeightTiles::WeightTiles(TracePtr trace)
    : trace_(std::move(trace)),
      sizes_(attention_sizes(trace_->options, trace_->tensors)),
      kernels_(fused_kernels()),
      sinks_(sinks_of_heads(trace_->options, trace_->tensors, sizes_.heads)) {
  const TraceTensors& t = trace_->tensors;
  if (!projects(trace_->options.op) || !t.q || !t.k || t.q->dtype() != DType::f32 ||
      !trace_->options.frozen_heads.empty())
    throw Error(
        ExitStatus::usage,
        {.where = "the attention weights",
         .what = "they cannot be made again",
         .expected = "a trace of multi_head_attention in f32 with q and k, and without frozen heads"});
  const Index rows = sizes_.batch * sizes_.heads * sizes_.queries;
  FusedRowPath path(trace_->options, sizes_, t);
  const Index made_numbers = path ? t.q->size() + t.k->size() : 0;
  require_memory(static_cast<Index>(sizeof(float)) * (2 * rows + t.k->size() + made_numbers),
                 "making attention weights again");
  q_ = t.q;
  TensorPtr k = t.k;
  if (path) {
    for (const TaskPhase& phase :
         path.follow({q_, sizes_.batch, sizes_.heads}, {k, sizes_.batch, sizes_.kv_heads}))
      run_tasks(phase.count, available_threads(), phase.body);
    q_ = path.q();
    k = path.k();
  }
  if (has_any_mask(trace_->options, given_masks(t))) masks_.emplace(trace_->options, t, sizes_);
  maximum_.assign(static_cast<std::size_t>(rows), -no_bound);
  sum_.assign(static_cast<std::size_t>(rows), 0.0f);

  const Index width = sizes_.kv_heads * sizes_.head_dim;
  const Index D = sizes_.head_dim;
  HeadPanels& keys = keys_.emplace(sizes_.batch, sizes_.kv_heads, sizes_.all_keys, D);
  std::optional<Tensor> present;  // (N,S′,G·D)
  if (t.past_key)
    present = merge_heads(
        with_past(*t.past_key, split_heads(*k, sizes_.kv_heads, "G", "D"), sizes_.key_axis()), nullptr, "G·D");
  const float* const from = present ? present->values<float>().data() : tile_numbers(k);
  run_tasks(sizes_.batch * keys.count, available_threads(), [&](Index task, int) {
    const Index n = task / keys.count, p = task % keys.count, first = p * panel_lanes;
    for (Index g = 0; g < sizes_.kv_heads; ++g)
      fill_panel(kernels_, from + (n * sizes_.all_keys + first) * width + g * D,
                 std::min(panel_lanes, sizes_.all_keys - first), width, D, keys.panel(n, g, p));
  });
}

Index WeightTiles::step() const {
  return step_of(sizes_.all_keys);
}

WeightTiles::Scratch WeightTiles::scratch() const {
  return {FusedBuffer(most_queries * step() + room), FusedBuffer(masks_ ? step() : 0)};
}

void WeightTiles::scores_of(Index n, Index h, CellRange queries, CellRange keys, float* scores, Index step,
                            float* bias) const {
  const Index g = h / (sizes_.heads / sizes_.kv_heads), width = sizes_.heads * sizes_.head_dim;
  kernels_.multiply(
      {.left = tile_numbers(q_) + (n * sizes_.queries + queries.first) * width + h * sizes_.head_dim,
       .left_row = width,
       .left_depth = 1,
       .right = keys_->panel(n, g, keys.first / panel_lanes),
       .right_panel = keys_->size,
       .right_depth = panel_lanes,
       .out = scores,
       .out_row = step,
       .rows = queries.size(),
       .columns = keys.size(),
       .depth = sizes_.head_dim});
  const ScoreScale scaling = score_scale(trace_->options);
  const auto scale = static_cast<float>(scaling.factor());
  const auto cap = static_cast<float>(scaling.cap());
  const bool fills = trace_->options.mask_value.has_value();
  const auto fill = static_cast<float>(trace_->options.mask_value.value_or(0.0));
  for (Index r = 0; r < queries.size(); ++r) {
    float* const own = scores + r * step;
    if (cap > 0.0f) {
      for (Index i = 0; i < keys.size(); ++i) own[i] = cap * std::tanh(own[i] * scale / cap);
    }
    if (masks_) masks_->fill(n, h, queries.first + r, keys.first, keys.last, bias);
    kernels_.adjust(own, keys.size(), cap > 0.0f ? 1.0f : scale, masks_ ? bias : nullptr,
                    fills ? &fill : nullptr);
  }
}

const float* WeightTiles::strip(Index n, Index h, CellRange queries, Scratch& scratch) {
  const Index keys = sizes_.all_keys, rows = queries.size();
  float* const scores = scratch.scores.at(0);
  scores_of(n, h, queries, {0, keys}, scores, step(), scratch.bias.at(0));
  std::vector<std::int32_t> from(most_queries, 0), to(most_queries, static_cast<std::int32_t>(keys));
  std::vector<float> maximum(most_queries, -no_bound), shrink(most_queries), sums(most_queries * 16, 0.0f);
  if (!sinks_.empty()) {
    std::ranges::fill(maximum, sink_maximum(sinks_[static_cast<std::size_t>(h)]));
    for (std::size_t first = 0; first < sums.size(); first += 16) sums[first] = 1.0f;
  }
  kernels_.softmax({.scores = scores,
                    .step = step(),
                    .rows = rows,
                    .columns = keys,
                    .from = from.data(),
                    .to = to.data(),
                    .scale = 1.0f,
                    .maximum = maximum.data(),
                    .shrink = shrink.data(),
                    .sums = sums.data(),
                    .largest = nullptr,
                    .largest_columns = 0});
  const float nothing = trace_->options.fully_masked_rows == FullyMaskedRows::zero
                            ? 0.0f
                            : std::numeric_limits<float>::quiet_NaN();
  for (Index r = 0; r < rows; ++r) {
    float sum = 0.0f;
    for (Index lane = 0; lane < 16; ++lane) sum += sums[static_cast<std::size_t>(r * 16 + lane)];
    maximum_[row(n, h, queries.first + r)] = maximum[static_cast<std::size_t>(r)];
    sum_[row(n, h, queries.first + r)] = sum;
    const float factor = sum == 0.0f ? nothing : 1.0f / sum;
    float* const weights = scores + r * step();
    for (Index i = 0; i < keys; ++i) weights[i] *= factor;
  }
  return scores;
}

void WeightTiles::tile(Index n, Index h, CellRange queries, CellRange keys, float* out) const {
  const Index begin = keys.first / panel_lanes * panel_lanes, count = keys.last - begin;
  const Index step = step_of(count);
  FusedBuffer scores(most_queries * step + room), bias(step);
  const float nothing = trace_->options.fully_masked_rows == FullyMaskedRows::zero
                            ? 0.0f
                            : std::numeric_limits<float>::quiet_NaN();
  for (Index first = queries.first; first < queries.last; first += most_queries) {
    const CellRange some{first, std::min(first + most_queries, queries.last)};
    scores_of(n, h, some, {begin, keys.last}, scores.at(0), step, bias.at(0));
    for (Index query = some.first; query < some.last; ++query, out += keys.size()) {
      float* const own = scores.at((query - some.first) * step + keys.first - begin);
      const float maximum = maximum_[row(n, h, query)], sum = sum_[row(n, h, query)];
      if (sum == 0.0f) {
        std::fill_n(out, keys.size(), nothing);
        continue;
      }
      for (Index i = 0; i < keys.size(); ++i) own[i] = own[i] * std::numbers::log2e_v<float> - maximum;
      kernels_.power_of_two(own, keys.size(), own);
      for (Index i = 0; i < keys.size(); ++i) out[i] = own[i] / sum;
    }
  }
}

namespace {

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
  level.min.assign(size, no_bound);
  level.max.assign(size, -no_bound);
  level.mean.assign(size, 0.0f);
  return level;
}

void add_rows(PyramidLevel& level, const float* weights, Index step, Index first, Index rows, Index keys) {
  for (Index r = 0; r < rows; ++r) {
    const float* const row = weights + r * step;
    const auto at = static_cast<std::size_t>((first + r) / level.block * level.cols);
    for (Index c = 0; c < level.cols; ++c) {
      const Index begin = c * level.block, end = std::min(begin + level.block, keys);
      float low = no_bound, high = -no_bound, sum = 0.0f;
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
