// C = A (M,K) · W (N,K)ᵀ + bias (N): one linear layer, its weight as nn.Linear keeps it (out × in). C is written in parts
// of `c_part` columns, so that it can stand head by head.
//
// A work group of 16 × 16 threads makes BLOCK_M × BLOCK_N numbers of C, each thread 4·ROWS × 4·COLS of them, from strips
// of DEPTH columns of A and W that all threads share. What compiles this sets ROWS and COLS (1 or 2), DEPTH (a multiple
// of 4), and RAGGED where a row of A or W does not begin at a multiple of 4 numbers.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer W { float w[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) buffer C { float c[]; };
#ifndef RAGGED
// The same memory as vec4s.
layout(std430, binding = 0) readonly buffer A4 { vec4 a4[]; };
layout(std430, binding = 1) readonly buffer W4 { vec4 w4[]; };
#endif

uniform uint rows;      // M
uniform uint columns;   // N
uniform uint depth;     // K
uniform uvec2 depth_range;  // [first, end) of it in this dispatch, first a multiple of DEPTH; behind 0 the sums of C go on
uniform uint a_offset;  // of the first number of A within its buffer; so the next three
uniform uint w_offset;
uniform uint bias_offset;
uniform uint c_offset;
uniform uint c_stride;       // from one row of C to the next
uniform uint c_part;         // columns that stand side by side
uniform uint c_part_stride;  // from the first of a part to the first of the next
uniform uint first_block;    // blocks of C are numbered along its rows
uniform bool has_bias;

const uint BLOCK_M = 64u * ROWS, BLOCK_N = 64u * COLS;
const uint STRIDE_M = BLOCK_M / 4u + 1u, STRIDE_N = BLOCK_N / 4u + 1u;  // one more, against bank conflicts

// Transposed: strip column by strip column, four neighbouring rows a vec4.
shared vec4 a_strip[DEPTH * STRIDE_M];
shared vec4 w_strip[DEPTH * STRIDE_N];

// Columns k … k+3 of a row, 0 beyond the matrix.
vec4 load_a(uint row, uint k) {
  if (row >= rows) return vec4(0.0);
#ifdef RAGGED
  vec4 value = vec4(0.0);
  for (uint i = 0u; i < 4u; ++i)
    if (k + i < depth) value[i] = a[a_offset + row * depth + k + i];
  return value;
#else
  return k < depth ? a4[(a_offset + row * depth + k) / 4u] : vec4(0.0);
#endif
}

vec4 load_w(uint row, uint k) {
  if (row >= columns) return vec4(0.0);
#ifdef RAGGED
  vec4 value = vec4(0.0);
  for (uint i = 0u; i < 4u; ++i)
    if (k + i < depth) value[i] = w[w_offset + row * depth + k + i];
  return value;
#else
  return k < depth ? w4[(w_offset + row * depth + k) / 4u] : vec4(0.0);
#endif
}

void main() {
  uint thread = gl_LocalInvocationIndex;
  uint tx = thread % 16u, ty = thread / 16u;
  uint block = first_block + gl_WorkGroupID.x, blocks_across = (columns + BLOCK_N - 1u) / BLOCK_N;
  uint first_row = block / blocks_across * BLOCK_M;
  uint first_column = block % blocks_across * BLOCK_N;

  vec4 sum[4u * ROWS][COLS];
  for (uint i = 0u; i < 4u * ROWS; ++i)
    for (uint j = 0u; j < COLS; ++j) sum[i][j] = vec4(0.0);
  if (depth_range.x > 0u) {
    for (uint j = 0u; j < COLS; ++j) {
      for (uint e = 0u; e < 4u; ++e) {
        uint column = first_column + 64u * j + 4u * tx + e;
        if (column >= columns) continue;
        uint at = c_offset + column / c_part * c_part_stride + column % c_part;
        for (uint i = 0u; i < 4u * ROWS; ++i) {
          uint row = first_row + 64u * (i / 4u) + 4u * ty + i % 4u;
          if (row < rows) sum[i][j][e] = c[at + row * c_stride];
        }
      }
    }
  }

  // A thread moves blocks of 4×4: four vec4s along a row each, turned round on their way into the strip.
  const uint QUADS = DEPTH / 4u;
  const uint A_BLOCKS = QUADS * BLOCK_M / 4u, BLOCKS = A_BLOCKS + QUADS * BLOCK_N / 4u;
  for (uint k0 = depth_range.x; k0 < depth_range.y; k0 += DEPTH) {
    for (uint four_by_four = thread; four_by_four < BLOCKS; four_by_four += 256u) {
      bool of_a = four_by_four < A_BLOCKS;
      uint index = of_a ? four_by_four : four_by_four - A_BLOCKS;
      uint quad = index % QUADS, four = index / QUADS;
      uint k = k0 + 4u * quad;
      mat4 m;
      for (uint i = 0u; i < 4u; ++i)
        m[i] = of_a ? load_a(first_row + 4u * four + i, k) : load_w(first_column + 4u * four + i, k);
      m = transpose(m);
      for (uint i = 0u; i < 4u; ++i) {
        if (of_a) a_strip[(4u * quad + i) * STRIDE_M + four] = m[i];
        else w_strip[(4u * quad + i) * STRIDE_N + four] = m[i];
      }
    }
    barrier();
    for (uint k = 0u; k < DEPTH; ++k) {
      vec4 left[ROWS], right[COLS];
      for (uint i = 0u; i < ROWS; ++i) left[i] = a_strip[k * STRIDE_M + 16u * i + ty];
      for (uint j = 0u; j < COLS; ++j) right[j] = w_strip[k * STRIDE_N + 16u * j + tx];
      for (uint i = 0u; i < ROWS; ++i)
        for (uint e = 0u; e < 4u; ++e)
          for (uint j = 0u; j < COLS; ++j) sum[4u * i + e][j] += left[i][e] * right[j];
    }
    barrier();
  }

  for (uint j = 0u; j < COLS; ++j) {
    for (uint e = 0u; e < 4u; ++e) {
      uint column = first_column + 64u * j + 4u * tx + e;
      if (column >= columns) continue;
      float plus = has_bias && depth_range.y == depth ? bias[bias_offset + column] : 0.0;
      uint at = c_offset + column / c_part * c_part_stride + column % c_part;
      for (uint i = 0u; i < ROWS; ++i)
        for (uint f = 0u; f < 4u; ++f) {
          uint row = first_row + 64u * i + 4u * ty + f;
          if (row < rows) c[at + row * c_stride] = sum[4u * i + f][j][e] + plus;
        }
    }
  }
}
