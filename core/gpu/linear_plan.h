// How a linear layer is cut into jobs for the GPU: a function of sizes and limits, without OpenGL.
#pragma once

#include <vector>

#include "core/attention/changed_tokens.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_work.h"

namespace headwise {

// Of shaders/matrix_product.comp.
struct MatrixProductTile {
  Index rows = 1, columns = 1;  // vec4s per thread
  bool ragged = false;          // rows, columns or parts are not whole vec4s
  bool loads_ahead = false;
};

struct LinearSizes {
  Index batch = 1, rows = 1, depth = 1, columns = 1;
  Index out_part = 1;         // columns side by side
  Index out_row_stride = 1;   // numbers
  Index out_part_stride = 1;  // at least rows · out_row_stride if there are several parts
};

// A piece of the product whose arrays can be bound together.
struct LinearPiece {
  Index n, first_row, rows, first_column, columns;
};

constexpr Index product_strip_depth = 16;  // DEPTH of the shader

// Columns of the product's depth that are summed between two points where it may be cut.
constexpr Index depth_of_step = 64;

// As limits.tiles says; where that is a large one, only if it still makes two work groups for each of so many
// processors; 0: their number is unknown. Any tile gives the same bits.
MatrixProductTile matrix_product_tile(const LinearSizes& sizes, const GpuLimits& limits, double processors);

// The pieces of these rows; together they are all of them.
std::vector<LinearPiece> plan_linear(const LinearSizes& sizes, const std::vector<TokenRange>& rows,
                                     const GpuLimits& limits);

// A unit is a work group and makes a tile of the piece. Without its dispatch.
GpuJob linear_job(const LinearSizes& sizes, const MatrixProductTile& tile, const LinearPiece& piece);

}  // namespace headwise
