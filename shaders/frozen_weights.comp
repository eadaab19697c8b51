// head_output of a head whose weights are held, whatever its scores are: Σ_key weights[query,key] · v[key,column]. A
// work group makes 16 queries × 16 columns from tiles of 16 keys; what compiles this sets nothing.
layout(local_size_x = 16, local_size_y = 16) in;

layout(std430, binding = 0) readonly buffer Weights { float held[]; };
layout(std430, binding = 2) readonly buffer V { float v[]; };
layout(std430, binding = 3) buffer O { float o[]; };

uniform uint queries;     // of this binding
uniform uint keys;        // S′
uniform uvec2 key_range;  // [first, end): those that are bound; behind key 0 the sum of o goes on
uniform uint v_head_dim;  // Dv
uniform uint held_offset;  // of the first query
uniform uint v_offset;     // of key 0 of its key/value head
uniform uint o_offset;     // of the first query
uniform uint o_stride;     // from a query to the next
uniform uint first_block;  // of 16 queries, in this slice

shared float weight_tile[16][17];  // one more, against bank conflicts
shared float v_tile[16][17];

void main() {
  uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
  uint column = gl_WorkGroupID.x * 16u + x;
  uint query = (first_block + gl_WorkGroupID.y) * 16u + y;
  bool there = query < queries && column < v_head_dim;
  float sum = there && key_range.x > 0u ? o[o_offset + query * o_stride + column] : 0.0;
  for (uint first = key_range.x; first < key_range.y; first += 16u) {
    bool weight_there = query < queries && first + x < key_range.y;
    bool v_there = first + y < key_range.y && column < v_head_dim;
    weight_tile[y][x] = weight_there ? held[held_offset + query * keys + first + x] : 0.0;
    v_tile[y][x] = v_there ? v[v_offset + (first + y) * v_head_dim + column] : 0.0;
    barrier();
    for (uint key = 0u; key < 16u; ++key) sum += weight_tile[y][key] * v_tile[key][x];
    barrier();
  }
  if (there) o[o_offset + query * o_stride + column] = sum;
}
