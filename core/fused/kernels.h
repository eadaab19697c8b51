// The loops that the fused backend spends its time in, compiled once for each instruction set that this program may
// meet. One build of them is a table of functions over raw pointers: nothing of Eigen or the standard library is
// instantiated with another instruction set's flags, so that the linker cannot mix them up. Numbers are f32.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

// Tokens (queries, keys) side by side in a panel, [width][panel_lanes] for the features of panel_lanes tokens; also a
// multiple of every vector.
constexpr Index panel_lanes = 64;
// Floats of the widest vector: what is kept of a row lane by lane is as wide.
constexpr Index widest_vector = 16;

// What a product begins with.
enum class Begin {
  zero,
  add,     // what stands in `out`
  bias,    // of a row: by_row[r]
  factor,  // what stands in `out`, times by_row[r]
};

// out[r][c] = begin + Σ_k left(r, k)·right(k, c) for r < rows, c < columns, k < depth, where left(r, k) stands at
// left[r·left_row + k·left_depth] and right(k, c) in panels at right[c/64·right_panel + k·right_depth + c%64]. Columns are
// rounded up to whole vectors, of at most 16 numbers: `right` and `out` have room for them.
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
  // Of row r only columns before column_reach[r], or only the depth before depth_reach[r], have to be there; null: all.
  const std::int32_t* column_reach = nullptr;
  const std::int32_t* depth_reach = nullptr;
  // [rows][16]: where it is given, each row's numbers before column largest_columns, a multiple of panel_lanes or `columns`,
  // raise what stands there, lane by lane; a NaN raises nothing.
  float* largest = nullptr;
  Index largest_columns = 0;
  // What is wanted next, brought into the second cache meanwhile; null: nothing.
  const float* ahead = nullptr;
  Index ahead_count = 0;
  // Where the left side goes too, past the caches, for nobody reads it soon: left(r, k)·kept_factor[r] at
  // kept[r·kept_row + k]; 0·kept_factor[r] where a row's depth does not have to be there. Rows only (left_depth 1); null: nowhere.
  float* kept = nullptr;
  Index kept_row = 0;
  const float* kept_factor = nullptr;
};

// A strip of scores, [rows][columns] of at most 64 rows, with `step` floats from one row to the next, rows and columns with room for whole
// vectors, and the state of its rows' softmax.
struct FusedSoftmax {
  float* scores;
  Index step, rows, columns;
  const std::int32_t* from;  // of each row: the keys [from, to) of the strip take part, the others' weight is 0
  const std::int32_t* to;
  float scale;     // > 0
  float* maximum;  // [rows] of scale·score·log2 e
  float* shrink;   // [rows]
  float* sums;     // [rows][16], to be added up in the end
  // [rows][16]: in some lane the largest score of each row before column largest_columns, a multiple of the widest vector up to
  // which every row's columns all take part; the others are looked at here.
  const float* largest;
  Index largest_columns;
};

struct FusedKernels {
  const char* name;  // "avx2"

  void (*multiply)(const FusedProduct& product);

  // Scores become exp(scale·score − maximum); maximum and sums follow what was seen before (−∞ and 0 at first), and
  // `shrink` is what earlier weighted sums must be multiplied with. A row of nothing but −∞ keeps the maximum −∞ and
  // the sum 0; NaN anywhere in a row makes its sum NaN.
  void (*softmax)(const FusedSoftmax& strip);

  // x[i] = scale·x[i] + bias[i] (null: 0) for i < count, rounded up to whole vectors; where there is `fill` it stands where
  // the bias is −∞.
  void (*adjust)(float* x, Index count, float scale, const float* bias, const float* fill);

  // out[i] = 2^x[i] for i < count, rounded up to whole vectors; x ≤ 0 or NaN. Below −126 exactly 0.
  void (*power_of_two)(const float* x, Index count, float* out);

  // out[c][r] = in[r][c]·by_row[r] (null: 1) for r < rows, c < columns. Nothing else is read or written.
  void (*transpose)(const float* in, Index in_step, Index rows, Index columns, const float* by_row,
                    float* out, Index out_step);

  // out[i] = in[i]·factor for i < count, past the caches; `in` null: 0·factor.
  void (*write)(const float* in, Index count, float factor, float* out);
  // To be called before another thread reads what went past the caches.
  void (*written)();

  // False where any of the numbers is NaN or infinite.
  bool (*finite)(const float* x, Index count);
};

enum class InstructionSet;  // core/tensor/instruction_set.h
// Those for a machine that has it.
const FusedKernels& fused_kernels(InstructionSet set);
// Those of chosen_instruction_set().
const FusedKernels& chosen_fused_kernels();

}  // namespace headwise
