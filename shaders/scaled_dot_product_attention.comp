// head_output = dropout(softmax(masked_scores)) · v for a block of queries of one head, in one pass over the keys: scores
// live in registers and shared memory only (online softmax: Milakov and Gimelshein 2018; tiled as FlashAttention, Dao et
// al. 2022). The largest score and Σexp of each row are kept, so that any tile of the weights can be made again.
//
// A work group of 16 × 16 threads makes BLOCK_L queries × all Dv columns. What compiles this sets ROWS (vec4s of query
// rows a thread: BLOCK_L = 64·ROWS), DEPTH (columns of q and k in a strip, a multiple of 4), COLS (vec4s of value columns
// a thread, Dv ≤ 64·COLS), V_ROWS (keys in a strip of v), RAGGED where a row does not begin at a multiple of 4 numbers,
// MASKED where any mask or softcap is on, SOFTCAP and DROPOUT where they are, SUBGROUPS where subgroups of at least 16 threads can be clustered, and LOADS_AHEAD
// where a strip is read while the one before is multiplied: memory answers meanwhile. That takes registers. No bit depends on it.
layout(local_size_x = 256) in;

// One block a buffer: with those of the masks eight, which every OpenGL 4.3 has.
#ifdef RAGGED
layout(std430, binding = 0) restrict readonly buffer Q { float q[]; };
layout(std430, binding = 1) restrict readonly buffer K { float k[]; };
layout(std430, binding = 2) restrict readonly buffer V { float v[]; };
#else
layout(std430, binding = 0) restrict readonly buffer Q4 { vec4 q4[]; };
layout(std430, binding = 1) restrict readonly buffer K4 { vec4 k4[]; };
layout(std430, binding = 2) restrict readonly buffer V4 { vec4 v4[]; };
#endif
layout(std430, binding = 3) restrict buffer O { float o[]; };
layout(std430, binding = 4) restrict buffer Statistics { vec2 statistics[]; };  // largest score and Σexp
layout(std430, binding = 7) restrict readonly buffer Skips { uint skips[]; };  // [0]: k or v holds a number that is not finite

uniform uint queries;     // L
uniform uint keys;        // S′
uniform uint head_dim;    // D
uniform uint v_head_dim;  // Dv
uniform uint heads;       // H
uniform uint group_size;  // H/G
uniform uint batch;       // n
uniform uint first_head;  // of this binding; heads are numbered on in work groups
uniform uint q_offset;    // of head first_head
uniform uint k_offset;    // of the key/value head of first_head
uniform uint v_offset;
uniform uint o_offset;       // of query first_row of head 0
uniform uint o_stride;       // from a query to the next
uniform uint o_head_stride;  // from a head to the next
uniform uint first_row;      // the first query of the output's binding
uniform uint first_block;  // of queries, in the binding
uniform uint blocks;       // of queries there, one a work group and head
uniform uint first_group;  // of this dispatch: all blocks of a head, then those of the next
uniform uint statistics_offset;
uniform uvec2 key_blocks;  // [first, end): the keys of this dispatch, in blocks of BLOCK_S
uniform bool continues;    // with what the keys before left: in statistics, and their weighted sum, not yet divided, in o
uniform bool ends;         // divides by Σexp: no keys are left
uniform bool empty_is_zero;  // a row with nothing left becomes 0, else NaN
uniform int sinks_at;        // of mask_data, a head each; −1: none
uniform bool positions_only;   // masks that go by positions alone, no softcap and no positional bias
uniform bool may_skip;       // blocks that a mask rules out need not be read where k and v are finite
uniform uvec4 block_step;    // of n, h and blocks of queries and keys in skips[1 …], a bit each; all 0: none

const uint BLOCK_L = 64u * ROWS, BLOCK_S = 64u;
const uint STRIDE_L = BLOCK_L / 4u, STRIDE_S = BLOCK_S / 4u;
const uint Q_STRIP = DEPTH * STRIDE_L, K_STRIP = DEPTH * STRIDE_S, V_STRIP = V_ROWS * 16u * COLS;
const uint QK_STRIP = Q_STRIP + K_STRIP, REDUCED = 256u * ROWS;
const uint LARGER = QK_STRIP > V_STRIP ? QK_STRIP : V_STRIP;

// A thread moves blocks of 4×4 of q and k: four vec4s along a row each, turned round on their way into the strip.
const uint QUADS = DEPTH / 4u, Q_BLOCKS = QUADS * BLOCK_L / 4u, QK_BLOCKS = Q_BLOCKS + QUADS * BLOCK_S / 4u;
const uint QK_EACH = (QK_BLOCKS + 255u) / 256u, V_EACH = (V_STRIP + 255u) / 256u;
// Whether these are block and number of the strips; a compiler sees where every thread has one.
bool is_qk(uint moved) { return QK_BLOCKS % 256u == 0u || moved < QK_BLOCKS; }
bool is_v(uint moved) { return V_STRIP % 256u == 0u || moved < V_STRIP; }
// Keys whose weights are shared at a time: with ROWS = 2 half of a block, so that 32 KiB are enough for everything.
const uint WEIGHT_KEYS = BLOCK_S / ROWS;

shared vec4 strip[LARGER > REDUCED ? LARGER : REDUCED];  // of q and k, of partial maxima and sums, of v
shared vec4 weights[WEIGHT_KEYS * BLOCK_L / 4u];         // exp(score − maximum), key by key, four queries a vec4

// Where four rows of column d stand in a line of a strip: eight threads that store blocks at once meet eight different banks.
uint place(uint four, uint d) { return four ^ (2u * (d / 4u % 4u)); }

// Where the weights of a key and four queries stand: eight threads that store those of keys four apart meet eight different banks.
uint weights_at(uint key, uint four) { return key * (BLOCK_L / 4u) + (four ^ (key / 4u % 8u)); }

// Without branches, because a branch waits for what is loaded in it: what is beyond the limits is loaded from
// the beginning.
vec4 load(uint row, uint limit, uint offset, uint column, uint width, uint which) {
  bool inside = row < limit && column < width;
#ifdef RAGGED
  if (!inside) return vec4(0.0);
  vec4 value = vec4(0.0);
  for (uint i = 0u; i < 4u; ++i)
    if (column + i < width)
      value[i] = which == 0u ? q[offset + column + i] : which == 1u ? k[offset + column + i] : v[offset + column + i];
  return value;
#else
  uint at = inside ? (offset + column) / 4u : 0u;
  vec4 value = which == 0u ? q4[at] : which == 1u ? k4[at] : v4[at];
  return inside ? value : vec4(0.0);
#endif
}

mat4 read_qk(uint block, uint d0, uint first_query, uint q_first, uint first_key, uint k_first) {
  bool of_q = block < Q_BLOCKS;
  uint index = of_q ? block : block - Q_BLOCKS;
  uint d = d0 + 4u * (index % QUADS), row = (of_q ? first_query : first_key) + 4u * (index / QUADS);
  mat4 m;
  if (of_q) {
    for (uint i = 0u; i < 4u; ++i) m[i] = load(row + i, queries, q_first + (row + i) * head_dim, d, head_dim, 0u);
  } else {
    for (uint i = 0u; i < 4u; ++i) m[i] = load(row + i, keys, k_first + (row + i) * head_dim, d, head_dim, 1u);
  }
  return m;
}

void store_qk(uint block, mat4 m) {
  bool of_q = block < Q_BLOCKS;
  uint index = of_q ? block : block - Q_BLOCKS;
  uint d = 4u * (index % QUADS), four = place(index / QUADS, d);
  m = transpose(m);
  for (uint i = 0u; i < 4u; ++i)
    strip[of_q ? (d + i) * STRIDE_L + four : Q_STRIP + (d + i) * STRIDE_S + four] = m[i];
}

// Number `index` of the strip of v that begins with this key.
vec4 read_v(uint index, uint first_key, uint v_first) {
  uint row = first_key + index / (16u * COLS);
  return load(row, keys, v_first + row * v_head_dim, 4u * (index % (16u * COLS)), v_head_dim, 2u);
}

// Of the 16 threads that share the rows of one ty: the largest, or the sum, row by row.
void reduce(inout float part[4u * ROWS], uint tx, uint ty, bool largest) {
#ifdef SUBGROUPS
#ifdef CLUSTERED_SUBGROUPS
  // A driver chooses the size of subgroups for each shader: with fewer than 16 threads in one they cannot tell.
  bool by_subgroups = gl_NumSubgroups <= 16u;
#else
  const bool by_subgroups = true;
#endif
  if (by_subgroups) {
    for (uint i = 0u; i < 4u * ROWS; ++i)
      part[i] = largest ? subgroupClusteredMax(part[i], 16u) : subgroupClusteredAdd(part[i], 16u);
    return;
  }
#endif
  share();
  for (uint i = 0u; i < ROWS; ++i)
    strip[(i * 16u + ty) * 16u + tx] = vec4(part[4u * i], part[4u * i + 1u], part[4u * i + 2u], part[4u * i + 3u]);
  share();
  for (uint i = 0u; i < ROWS; ++i) {
    vec4 all = strip[(i * 16u + ty) * 16u];
    for (uint t = 1u; t < 16u; ++t) {
      vec4 next = strip[(i * 16u + ty) * 16u + t];
      all = largest ? max(all, next) : all + next;
    }
    for (uint e = 0u; e < 4u; ++e) part[4u * i + e] = all[e];
  }
}

// The keys that some query of the block may see, by position alone.
uvec2 seen_keys(uint first_query, uint last_query) {
  uvec2 seen = uvec2(0u, keys);
#ifdef MASKED
  if (!may_skip || skips[0] != 0u || keys > given_keys) return seen;
  seen.x = uint(clamp(int(first_query) + position_offset - behind, 0, int(keys)));
  seen.y = uint(clamp(int(last_query) + position_offset + ahead + 1, 0, int(seen.y)));
#endif
  return seen;
}

bool is_blocked(uint head, uint block, uint key_block) {
#ifdef MASKED
  if (!may_skip || block_step.w == 0u || skips[0] != 0u) return false;
  uint bit = batch * block_step.x + head * block_step.y + block * ROWS * block_step.z + key_block * block_step.w;
  bool all_blocked = (skips[1u + (bit >> 5)] >> (bit & 31u) & 1u) != 0u;
  for (uint r = 1u; r < ROWS; ++r) {
    if ((block * ROWS + r) * 64u >= queries) break;
    uint next = bit + r * block_step.z;
    all_blocked = all_blocked && (skips[1u + (next >> 5)] >> (next & 31u) & 1u) != 0u;
  }
  return all_blocked;
#else
  return false;
#endif
}

// The next block of keys from this one on that is not blocked.
uint unblocked(uint head, uint block, uint key_block, uint end) {
  while (key_block < end && is_blocked(head, block, key_block)) ++key_block;
  return key_block;
}

#ifdef MASKED
// Whether every query of the block sees every key of the block, and scores need no more than the scale: most blocks below a diagonal.
bool is_plain(uint first_query, uint last_query, uint first_key) {
  if (!positions_only || first_key + BLOCK_S > min(given_keys, keys)) return false;
  int nearest = int(first_query) + position_offset - int(first_key + BLOCK_S - 1u);  // distance of the key that lies least far back
  int farthest = int(last_query) + position_offset - int(first_key);
  return -nearest <= ahead && farthest <= behind;
}
#endif

void main() {
  uint thread = gl_LocalInvocationIndex;
  uint tx = thread % 16u, ty = thread / 16u;
  // The last queries first: with a causal mask they have the most to do. Head by head, so that neighbours read the same keys.
  uint group = first_group + gl_WorkGroupID.x;
  uint block = first_block + blocks - 1u - group % blocks;
  uint head_of_binding = group / blocks;
  uint head = first_head + head_of_binding;
  uint first_query = block * BLOCK_L;
  uint last_query = min(first_query + BLOCK_L, queries) - 1u;
  uint q_first = q_offset + head_of_binding * queries * head_dim;
  uint kv_head = head / group_size - first_head / group_size;
  uint k_first = k_offset + kv_head * keys * head_dim;
  uint v_first = v_offset + kv_head * keys * v_head_dim;

  uvec2 seen = seen_keys(first_query, last_query);
  uint first_key_block = max(seen.x / BLOCK_S, key_blocks.x);
  uint end_key_block = min((seen.y + BLOCK_S - 1u) / BLOCK_S, key_blocks.y);
  if (continues && !ends && first_key_block >= end_key_block) return;

  // What a dispatch leaves is what the registers held, so that it makes no difference where the keys are cut.
  vec4 sum[4u * ROWS][COLS];
  float maximum[4u * ROWS], total[4u * ROWS];
  for (uint i = 0u; i < 4u * ROWS; ++i) {
    // The sink is a score before the first, whose weight is added to no value.
    maximum[i] = sinks_at < 0 ? -INFINITY : uintBitsToFloat(mask_data[uint(sinks_at) + head]);
    total[i] = sinks_at < 0 ? 0.0 : 1.0;
    for (uint j = 0u; j < COLS; ++j) sum[i][j] = vec4(0.0);
    uint query = first_query + 64u * (i / 4u) + 4u * ty + i % 4u;
    if (!continues || query >= queries) continue;
    vec2 row = statistics[statistics_offset + head_of_binding * queries + query];
    maximum[i] = row.x;
    total[i] = row.y;
    uint at = o_offset + head * o_head_stride + (query - first_row) * o_stride;
    for (uint j = 0u; j < COLS; ++j)
      for (uint e = 0u; e < 4u; ++e) {
        uint column = 64u * j + 4u * tx + e;
        if (column < v_head_dim) sum[i][j][e] = o[at + column];
      }
  }

  uint key_block = unblocked(head, block, first_key_block, end_key_block);
#ifdef LOADS_AHEAD
  mat4 next_qk[QK_EACH];
  vec4 next_v[V_EACH];
  if (key_block < end_key_block)
    for (uint n = 0u; n < QK_EACH; ++n)
      if (is_qk(thread + 256u * n))
        next_qk[n] = read_qk(thread + 256u * n, 0u, first_query, q_first, key_block * BLOCK_S, k_first);
#endif
  while (key_block < end_key_block) {
    uint first_key = key_block * BLOCK_S;
    uint following = unblocked(head, block, key_block + 1u, end_key_block);
    vec4 scores[4u * ROWS];
    for (uint i = 0u; i < 4u * ROWS; ++i) scores[i] = vec4(0.0);
    for (uint d0 = 0u; d0 < head_dim; d0 += DEPTH) {
      share();
#ifdef LOADS_AHEAD
      for (uint n = 0u; n < QK_EACH; ++n)
        if (is_qk(thread + 256u * n)) store_qk(thread + 256u * n, next_qk[n]);
      share();
      if (d0 + DEPTH < head_dim) {
        for (uint n = 0u; n < QK_EACH; ++n)
          if (is_qk(thread + 256u * n))
            next_qk[n] = read_qk(thread + 256u * n, d0 + DEPTH, first_query, q_first, first_key, k_first);
      } else {
        for (uint n = 0u; n < V_EACH; ++n)
          if (is_v(thread + 256u * n)) next_v[n] = read_v(thread + 256u * n, first_key, v_first);
      }
#else
      for (uint n = 0u; n < QK_EACH; ++n)
        if (is_qk(thread + 256u * n))
          store_qk(thread + 256u * n, read_qk(thread + 256u * n, d0, first_query, q_first, first_key, k_first));
      share();
#endif
      for (uint d = 0u; d < DEPTH; ++d) {
        vec4 right = strip[Q_STRIP + d * STRIDE_S + place(tx, d)];
        for (uint i = 0u; i < ROWS; ++i) {
          vec4 left = strip[d * STRIDE_L + place(16u * i + ty, d)];
          for (uint e = 0u; e < 4u; ++e) scores[4u * i + e] += left[e] * right;
        }
      }
    }

    float part[4u * ROWS], shrink[4u * ROWS];
#ifdef MASKED
    bool plain = is_plain(first_query, last_query, first_key);
#endif
    for (uint i = 0u; i < 4u * ROWS; ++i) {
      uint query = first_query + 64u * (i / 4u) + 4u * ty + i % 4u;
      float largest = -INFINITY;
#ifdef MASKED
      MaskRow row;
      if (!plain) row = mask_row(batch, head, min(query, queries - 1u));
#endif
      for (uint e = 0u; e < 4u; ++e) {
        uint key = first_key + 4u * tx + e;
#ifdef MASKED
        float score = scores[i][e] * score_scale;
        if (!plain) score = key < keys && query < queries ? masked_score(scores[i][e], row, key) : -INFINITY;
#else
        float score = key < keys ? scores[i][e] * score_scale : -INFINITY;
#endif
        scores[i][e] = score;
        if (!is_nan(score)) largest = max(largest, score);
      }
      part[i] = largest;
    }
    reduce(part, tx, ty, true);
    for (uint i = 0u; i < 4u * ROWS; ++i) {
      float before = maximum[i], now = max(before, part[i]);
      maximum[i] = now;
      shrink[i] = before == now ? 1.0 : is_minus_infinity(before) ? 0.0 : exp(before - now);
      vec4 weight = vec4(0.0);
      for (uint e = 0u; e < 4u; ++e) {
        float score = scores[i][e];
        if (is_nan(score) || (is_infinity(score) && is_infinity(now))) weight[e] = NOT_A_NUMBER;
        else if (!is_minus_infinity(score)) weight[e] = exp(score - now);
      }
      part[i] = weight.x + weight.y + weight.z + weight.w;
#ifdef DROPOUT
      uint query = first_query + 64u * (i / 4u) + 4u * ty + i % 4u;
      uint row = (batch * heads + head) * queries + query;
      for (uint e = 0u; e < 4u; ++e) weight[e] *= dropout_factor(row, keys, first_key + 4u * tx + e);
#endif
      scores[i] = weight;
    }
    reduce(part, tx, ty, false);
    for (uint i = 0u; i < 4u * ROWS; ++i) {
      total[i] = total[i] * shrink[i] + part[i];
      for (uint j = 0u; j < COLS; ++j) sum[i][j] *= shrink[i];
    }

    // Not up to a constant: a compiler that unrolled this loop too would make a program of hundreds of KiB.
    uint last_keys = min(BLOCK_S, keys - first_key);
    for (uint s0 = 0u; s0 < last_keys; s0 += V_ROWS) {
      share();
      // The weights of the next keys, by the threads that have them.
      if (s0 % WEIGHT_KEYS == 0u && 4u * tx / WEIGHT_KEYS == s0 / WEIGHT_KEYS) {
        for (uint i = 0u; i < ROWS; ++i) {
          mat4 m = transpose(mat4(scores[4u * i], scores[4u * i + 1u], scores[4u * i + 2u], scores[4u * i + 3u]));
          for (uint e = 0u; e < 4u; ++e) weights[weights_at((4u * tx + e) % WEIGHT_KEYS, 16u * i + ty)] = m[e];
        }
      }
#ifdef LOADS_AHEAD
      for (uint n = 0u; n < V_EACH; ++n)
        if (is_v(thread + 256u * n)) strip[thread + 256u * n] = next_v[n];
      share();
      if (s0 + V_ROWS < last_keys) {
        for (uint n = 0u; n < V_EACH; ++n)
          if (is_v(thread + 256u * n)) next_v[n] = read_v(thread + 256u * n, first_key + s0 + V_ROWS, v_first);
      } else if (following < end_key_block) {
        for (uint n = 0u; n < QK_EACH; ++n)
          if (is_qk(thread + 256u * n))
            next_qk[n] = read_qk(thread + 256u * n, 0u, first_query, q_first, following * BLOCK_S, k_first);
      }
#else
      for (uint n = 0u; n < V_EACH; ++n)
        if (is_v(thread + 256u * n)) strip[thread + 256u * n] = read_v(thread + 256u * n, first_key + s0, v_first);
      share();
#endif
      for (uint s = 0u; s < V_ROWS; ++s) {
        vec4 right[COLS];
        for (uint j = 0u; j < COLS; ++j) right[j] = strip[s * 16u * COLS + 16u * j + tx];
        for (uint i = 0u; i < ROWS; ++i) {
          vec4 left = weights[weights_at((s0 + s) % WEIGHT_KEYS, 16u * i + ty)];
          for (uint e = 0u; e < 4u; ++e)
            for (uint j = 0u; j < COLS; ++j) sum[4u * i + e][j] += left[e] * right[j];
        }
      }
    }
    key_block = following;
  }

  for (uint i = 0u; i < 4u * ROWS; ++i) {
    uint query = first_query + 64u * (i / 4u) + 4u * ty + i % 4u;
    if (query >= queries) continue;
    if (tx == 0u) statistics[statistics_offset + head_of_binding * queries + query] = vec2(maximum[i], total[i]);
    float divided = !ends ? 1.0 : total[i] != 0.0 ? 1.0 / total[i] : empty_is_zero ? 0.0 : NOT_A_NUMBER;
    uint at = o_offset + head * o_head_stride + (query - first_row) * o_stride;
    for (uint j = 0u; j < COLS; ++j)
      for (uint e = 0u; e < 4u; ++e) {
        uint column = 64u * j + 4u * tx + e;
        if (column < v_head_dim) o[at + column] = sum[i][j][e] * divided;
      }
  }
}
