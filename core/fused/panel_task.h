// The state of a worker of fused_attention.cpp: one panel of queries of one head, room for its scores, and
// the keys that its queries look at.
#pragma once

#include <array>

#include "core/fused/fused_attention.h"

namespace headwise {

// Keys of a strip: with 64 queries their scores are 132 KiB, their values at a head width of 64 as much: half
// of the smallest L2 cache of today. Longer sums cost less than exceeding the L1 cache.
constexpr Index keys_at_once = 512;
// Padding between two rows of scores, so that they do not all map to the same cache sets.
constexpr Index row_gap = 16;
constexpr Index dropped_step = keys_at_once + row_gap;
constexpr Index rows_at_once = panel_lanes;

Index strips_of(const FusedAttention& attention);

// One panel of queries of one head: queries [first, first + rows).
struct QueryPlace {
  Index n, h, p, first, rows;
};

QueryPlace query_place(const FusedAttention& attention, Index task);

// And the worker's buffers.
struct PanelTask : QueryPlace {
  Index g;
  float* scores;                     // [64][step]
  float* dropped;                    // [64][dropped_step], if there is dropout
  float* bias;                       // [keys_at_once]
  float* sums;                       // [64][v.step]
  float* totals;                     // [64][16]
  float* largest;                    // [64][16]
  float *maximum, *shrink, *factor;  // [64]
  // [strips][64], if the weights are kept: per strip, the `maximum` at that time, later the factor of its weights; and `shrink`.
  float *maxima, *shrinks;
  Index step;
  bool look_behind, adds;
  std::array<KeyReach, rows_at_once> reach;
  Index from, to;  // the keys that any of the queries looks at, `from` at the beginning of a strip
};

// With `look_behind`, every query looks at every key: what a mask blocks is not finite, and matters.
// `scratch` as in fused_attention_task.
PanelTask panel_task(const FusedAttention& attention, Index task, float* scratch, bool look_behind);

const float* queries_of(const FusedAttention& attention, const PanelTask& task);
bool finite_queries(const FusedAttention& attention, const PanelTask& task);

// The keys of a strip that each query looks at, relative to the strip's first.
struct StripReach {
  std::int32_t begin[rows_at_once], end[rows_at_once];
  bool all;      // every query looks at every key
  Index shared;  // every query looks at the keys before this one
};
StripReach reach_of(const PanelTask& task, Index from, Index count);

}  // namespace headwise
