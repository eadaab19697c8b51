// C = A (M,K) · W (N,K)ᵀ + bias (N): one linear layer, its weight as nn.Linear keeps it (out × in). C is written in parts
// of `c_part` columns, so that it can stand head by head.
//
// A work group of 16 × 16 threads makes BLOCK_M × BLOCK_N numbers of C, each thread 4·ROWS × 4·COLS of them, from strips
// of DEPTH columns of A and W that all threads share. What compiles this sets ROWS and COLS (1 or 2), DEPTH (a multiple
// of 4), RAGGED where a row of A, W or C, or a part of one, does not begin at a multiple of 4 numbers, and LOADS_AHEAD where a strip is read while the one
// before is multiplied: memory answers meanwhile. That takes registers, and a second strip. No bit depends on it.
layout(local_size_x = 256) in;

#ifdef RAGGED
layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer W { float w[]; };
layout(std430, binding = 3) restrict buffer C { float c[]; };
#else
layout(std430, binding = 0) restrict readonly buffer A4 { vec4 a4[]; };
layout(std430, binding = 1) restrict readonly buffer W4 { vec4 w4[]; };
layout(std430, binding = 3) restrict buffer C4 { vec4 c4[]; };
#endif
layout(std430, binding = 2) restrict readonly buffer Bias { float bias[]; };

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
uniform uint first_block;
uniform bool has_bias;

const uint BLOCK_M = 64u * ROWS, BLOCK_N = 64u * COLS;
const uint FOURS_M = BLOCK_M / 4u, FOURS_N = BLOCK_N / 4u, QUADS = DEPTH / 4u;
// A thread moves blocks of 4×4: four vec4s along a row each, turned round on their way into the strip.
const uint A_BLOCKS = QUADS * FOURS_M, BLOCKS = A_BLOCKS + QUADS * FOURS_N, EACH = (BLOCKS + 255u) / 256u;
// Whether block number `moved` is one; a compiler sees where every thread has one.
bool is_block(uint moved) { return BLOCKS % 256u == 0u || moved < BLOCKS; }
// Blocks of C that are numbered down before the next column: neighbours read the same rows of W, and a few
// rows of A.
const uint BAND = 8u;

// A strip, transposed: column by column, four neighbouring rows a vec4; those of A, then those of W. Eight threads that store blocks at
// once meet eight different banks by the places that they have in a line.
const uint LINE_M = FOURS_M, LINE_N = FOURS_N;
uint place(uint four, uint k) { return four ^ (2u * (k / 4u % 4u)); }
#ifdef LOADS_AHEAD
const uint STRIPS = 2u;
#else
const uint STRIPS = 1u;
#endif
const uint A_STRIP = DEPTH * LINE_M, STRIP = A_STRIP + DEPTH * LINE_N;
shared vec4 strips[STRIPS * STRIP];

// Columns k … k+3 of a row, 0 beyond the depth. What rows hold that the matrix has not is not stored: they
// are those of the last one, or 0. Without branches, because a branch waits for what is loaded in it.
vec4 load_a(uint row, uint k) {
#ifdef RAGGED
  if (row >= rows) return vec4(0.0);
  vec4 value = vec4(0.0);
  for (uint i = 0u; i < 4u; ++i)
    if (k + i < depth) value[i] = a[a_offset + row * depth + k + i];
  return value;
#else
  vec4 value = a4[(a_offset + min(row, rows - 1u) * depth + min(k, depth - 4u)) / 4u];
  return k < depth ? value : vec4(0.0);
#endif
}

vec4 load_w(uint row, uint k) {
#ifdef RAGGED
  if (row >= columns) return vec4(0.0);
  vec4 value = vec4(0.0);
  for (uint i = 0u; i < 4u; ++i)
    if (k + i < depth) value[i] = w[w_offset + row * depth + k + i];
  return value;
#else
  vec4 value = w4[(w_offset + min(row, columns - 1u) * depth + min(k, depth - 4u)) / 4u];
  return k < depth ? value : vec4(0.0);
#endif
}

mat4 read_block(uint block, uint first_row, uint first_column, uint k0) {
  bool of_a = block < A_BLOCKS;
  uint index = of_a ? block : block - A_BLOCKS;
  uint k = k0 + 4u * (index % QUADS), row = 4u * (index / QUADS);
  mat4 m;
  if (of_a) {
    for (uint i = 0u; i < 4u; ++i) m[i] = load_a(first_row + row + i, k);
  } else {
    for (uint i = 0u; i < 4u; ++i) m[i] = load_w(first_column + row + i, k);
  }
  return m;
}

void store_block(uint block, uint strip, mat4 m) {
  bool of_a = block < A_BLOCKS;
  uint index = of_a ? block : block - A_BLOCKS;
  uint k = 4u * (index % QUADS), four = index / QUADS, line = of_a ? LINE_M : LINE_N;
  uint at = strip + (of_a ? 0u : A_STRIP) + k * line + place(four, k);
  m = transpose(m);
  for (uint i = 0u; i < 4u; ++i) strips[at + i * line] = m[i];
}

// Columns column … column+3 of a row of C, those that it has.
vec4 load_c(uint row, uint column) {
#ifdef RAGGED
  vec4 value = vec4(0.0);
  for (uint e = 0u; e < 4u; ++e) {
    uint at = column + e;
    if (at < columns) value[e] = c[c_offset + at / c_part * c_part_stride + at % c_part + row * c_stride];
  }
  return value;
#else
  return c4[(c_offset + column / c_part * c_part_stride + column % c_part + row * c_stride) / 4u];
#endif
}

void store_c(uint row, uint column, vec4 value) {
#ifdef RAGGED
  for (uint e = 0u; e < 4u; ++e) {
    uint at = column + e;
    if (at < columns) c[c_offset + at / c_part * c_part_stride + at % c_part + row * c_stride] = value[e];
  }
#else
  c4[(c_offset + column / c_part * c_part_stride + column % c_part + row * c_stride) / 4u] = value;
#endif
}

void main() {
  uint thread = gl_LocalInvocationIndex;
  uint tx = thread % 16u, ty = thread / 16u;
  uint block = first_block + gl_WorkGroupID.x, blocks_across = (columns + BLOCK_N - 1u) / BLOCK_N;
  uint first_of_band = block / (BAND * blocks_across) * BAND, in_band = block - first_of_band * blocks_across;
  uint high = min(BAND, (rows + BLOCK_M - 1u) / BLOCK_M - first_of_band);
  uint first_row = (first_of_band + in_band % high) * BLOCK_M;
  uint first_column = in_band / high * BLOCK_N;

  vec4 sum[4u * ROWS][COLS];
  for (uint i = 0u; i < 4u * ROWS; ++i)
    for (uint j = 0u; j < COLS; ++j) sum[i][j] = vec4(0.0);
  if (depth_range.x > 0u) {
    for (uint j = 0u; j < COLS; ++j) {
      uint column = first_column + 64u * j + 4u * tx;
      if (column >= columns) continue;
      for (uint i = 0u; i < 4u * ROWS; ++i) {
        uint row = first_row + 64u * (i / 4u) + 4u * ty + i % 4u;
        if (row < rows) sum[i][j] = load_c(row, column);
      }
    }
  }

#ifdef LOADS_AHEAD
  uint strip = 0u;
  mat4 next[EACH];
  for (uint n = 0u; n < EACH; ++n)
    if (is_block(thread + 256u * n)) next[n] = read_block(thread + 256u * n, first_row, first_column, depth_range.x);
#else
  const uint strip = 0u;
#endif
  for (uint k0 = depth_range.x; k0 < depth_range.y; k0 += DEPTH) {
#ifdef LOADS_AHEAD
    // Into the strip that was multiplied before the last: who is still at the last one is not disturbed.
    for (uint n = 0u; n < EACH; ++n)
      if (is_block(thread + 256u * n)) store_block(thread + 256u * n, strip, next[n]);
    share();
    if (k0 + DEPTH < depth_range.y)
      for (uint n = 0u; n < EACH; ++n)
        if (is_block(thread + 256u * n)) next[n] = read_block(thread + 256u * n, first_row, first_column, k0 + DEPTH);
#else
    if (k0 > depth_range.x) share();
    for (uint n = 0u; n < EACH; ++n)
      if (is_block(thread + 256u * n))
        store_block(thread + 256u * n, strip, read_block(thread + 256u * n, first_row, first_column, k0));
    share();
#endif
    for (uint k = 0u; k < DEPTH; ++k) {
      vec4 left[ROWS], right[COLS];
      for (uint i = 0u; i < ROWS; ++i) left[i] = strips[strip + k * LINE_M + place(16u * i + ty, k)];
      for (uint j = 0u; j < COLS; ++j) right[j] = strips[strip + A_STRIP + k * LINE_N + place(16u * j + tx, k)];
      for (uint i = 0u; i < ROWS; ++i)
        for (uint e = 0u; e < 4u; ++e)
          for (uint j = 0u; j < COLS; ++j) sum[4u * i + e][j] += left[i][e] * right[j];
    }
#ifdef LOADS_AHEAD
    strip = STRIP - strip;
#endif
  }

  for (uint j = 0u; j < COLS; ++j) {
    uint column = first_column + 64u * j + 4u * tx;
    if (column >= columns) continue;
    vec4 plus = vec4(0.0);
    if (has_bias && depth_range.y == depth)
      for (uint e = 0u; e < 4u; ++e)
        if (column + e < columns) plus[e] = bias[bias_offset + column + e];
    for (uint i = 0u; i < 4u * ROWS; ++i) {
      uint row = first_row + 64u * (i / 4u) + 4u * ty + i % 4u;
      if (row < rows) store_c(row, column, sum[i][j] + plus);
    }
  }
}
