// The loops that the fused backend spends its time in, compiled once for each instruction set that this
// program may run on. One build of them is a table of functions over raw pointers: nothing from Eigen or the
// standard library is instantiated with another instruction set's flags,
// so that the linker cannot mix them up. Numbers are f32.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

// Tokens (queries, keys) in the lanes of a panel, [width][panel_lanes] for the features of panel_lanes
// tokens; also a multiple of every vector.
constexpr Index panel_lanes = 64;
// Floats of the widest vector: lane-wise row state has this width.
constexpr Index widest_vector = 16;

// What a product starts from.
enum class Begin {
  zero,
  add,     // the contents of `out`
  bias,    // per row: by_row[r]
  factor,  // the contents of `out`, times by_row[r]
};

// out[r][c] = begin + Σ_k left(r, k)·right(k, c) for r < rows, c < columns, k < depth, where left(r, k) is at
// left[r·left_row + k·left_depth] and right(k, c) in panels at right[c/64·right_panel + k·right_depth +
// c%64]. Columns are rounded up to whole vectors, of at most 16 numbers:
// `right` and `out` have room for them.
struct FusedProduct {
  const float* left;
  Index left_row, left_depth;
  const float* right;
  Index right_panel, right_depth;
  float* out;
  Index out_row;
  Index rows, columns, depth;
  Begin begin = Begin::zero;
  const float* by_row = nullptr;
  // Of row r only columns before column_reach[r], or only the depth before depth_reach[r],
  // must be computed; null: all.
  const std::int32_t* column_reach = nullptr;
  const std::int32_t* depth_reach = nullptr;
  // [rows][16]: if given, updated lane by lane with the maximum of each row's numbers before column largest_columns, a multiple of
  // panel_lanes or `columns`; a NaN changes nothing.
  float* largest = nullptr;
  Index largest_columns = 0;
  // What is needed next, prefetched into the L2 cache meanwhile; null: nothing.
  const float* prefetch = nullptr;
  Index prefetch_count = 0;
  // A second destination of the left side, written past the caches because it is not read soon: left(r,
  // k)·kept_factor[r] at kept[r·kept_row + k]; 0·kept_factor[r] where a row's depth need not be computed.
  // Rows only (left_depth 1); null: nowhere.
  float* kept = nullptr;
  Index kept_row = 0;
  const float* kept_factor = nullptr;
};

// A strip of scores, [rows][columns] of at most 64 rows, with `step` floats from one row to the next, rows
// and columns with room for whole vectors, and the softmax state of its rows.
struct FusedSoftmax {
  float* scores;
  Index step, rows, columns;
  // per row: the keys [from, to) of the strip take part, the weights of the others are 0
  const std::int32_t* from;
  const std::int32_t* to;
  float scale;     // > 0
  float* maximum;  // [rows] of scale·score·log2 e
  float* shrink;   // [rows]
  float* sums;     // [rows][16], to be added up at the end
  // [rows][16]: in some lane the largest score of each row before column largest_columns, a multiple of the widest vector up to which the
  // columns of every row all take part; the others are checked here.
  const float* largest;
  Index largest_columns;
};

struct FusedKernels {
  void (*multiply)(const FusedProduct& product);

  // Scores become exp(scale·score − maximum); maximum and sums continue from earlier strips (−∞ and 0 at
  // first), and `shrink` is the factor for earlier weighted sums. A row of only −∞ keeps the maximum −∞ and
  // the sum 0; NaN anywhere in a row makes its sum NaN.
  void (*softmax)(const FusedSoftmax& strip);

  // x[i] = scale·x[i] + bias[i] (null: 0) for i < count, rounded up to whole vectors; if `fill` is given, it
  // replaces x[i] where the bias is −∞.
  void (*adjust)(float* x, Index count, float scale, const float* bias, const float* fill);

  // out[i] = 2^x[i] for i < count, rounded up to whole vectors; x ≤ 0 or NaN. Below −126 exactly 0.
  void (*power_of_two)(const float* x, Index count, float* out);

  // out[c][r] = in[r][c]·by_row[r] (null: 1) for r < rows, c < columns. Nothing else is read or written.
  void (*transpose)(const float* in, Index in_step, Index rows, Index columns, const float* by_row,
                    float* out, Index out_step);

  // out[i] = in[i]·factor for i < count, past the caches; `in` null: 0·factor.
  void (*write)(const float* in, Index count, float factor, float* out);
  // Must be called before another thread reads what was written past the caches.
  void (*written)();

  // False where any of the numbers is NaN or infinite.
  bool (*finite)(const float* x, Index count);
};

enum class InstructionSet;                // core/tensor/instruction_set.h
InstructionSet chosen_instruction_set();  // there, too
const FusedKernels& fused_kernels(InstructionSet set = chosen_instruction_set());

}  // namespace headwise
