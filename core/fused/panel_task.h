// What a worker of fused_attention.cpp has in hand: one panel of queries of one head, room for its scores, and the keys that its
// queries look at.
#pragma once

#include <array>

#include "core/fused/fused_attention.h"

namespace headwise {

// Keys of a strip: with 64 queries their scores are 132 KiB, their values at a head width of 64 as much: half of the smallest
// second cache of today. Longer sums cost less than what does not fit the first cache.
constexpr Index keys_at_once = 512;
// Between two rows of scores, so that they do not all lie in the same sets of a cache.
constexpr Index row_gap = 16;
constexpr Index dropped_step = keys_at_once + row_gap;
constexpr Index rows_at_once = panel_lanes;

Index strips_of(const FusedAttention& attention);

// One panel of queries of one head: queries [first, first + rows).
struct QueryPlace {
  Index n, h, p, first, rows;
};

QueryPlace query_place(const FusedAttention& attention, Index task);

// And what this worker has room for.
struct PanelTask : QueryPlace {
  Index g;
  float* scores;                     // [64][step]
  float* dropped;                    // [64][dropped_step], where there is dropout
  float* bias;                       // [keys_at_once]
  float* sums;                       // [64][v.step]
  float* totals;                     // [64][16]
  float* largest;                    // [64][16]
  float *maximum, *shrink, *factor;  // [64]
  // [strips][64], where the weights are kept: of each strip, `maximum` as it was then, later what its weights are multiplied
  // with; and `shrink`.
  float *maxima, *shrinks;
  Index step;
  bool look_behind, adds;
  std::array<KeyReach, rows_at_once> reach;
  Index from, to;  // the keys that any of the queries looks at, `from` the beginning of a strip
};

// Where `look_behind`, every query looks at every key: what a mask blocks is no number, and counts. `scratch` as
// fused_attention_task has it.
PanelTask panel_task(const FusedAttention& attention, Index task, float* scratch, bool look_behind);

const float* queries_of(const FusedAttention& attention, const PanelTask& task);
bool finite_queries(const FusedAttention& attention, const PanelTask& task);

// The keys of a strip that each query looks at, from the strip's first.
struct StripReach {
  std::int32_t begin[rows_at_once], end[rows_at_once];
  bool all;      // every query looks at every key
  Index shared;  // every query looks at the keys before this one
};
StripReach reach_of(const PanelTask& task, Index from, Index count);

}  // namespace headwise
