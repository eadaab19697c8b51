// Rows of q or k brought to one length (core/attention/norm.h). A work group makes one row: a head's row of a token,
// or with `parts` > 1 the row of all its heads, which lie apart.
layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer Rows { float rows[]; };       // (…,parts,T,D)
layout(std430, binding = 1) readonly buffer Weights { float weights[]; };  // (D) or (heads,D): the gains
layout(std430, binding = 3) writeonly buffer Normed { float normed[]; };  // (…,parts,T,D)

uniform uint rows_offset;  // of the first row of this binding
uniform uint weights_offset;
uniform uint normed_offset;
uniform uint first_row;    // of this slice
uniform uint first_head;   // of this binding
uniform uint heads;
uniform uint parts;        // heads of a row
uniform uint tokens;       // T
uniform uint width;        // D
uniform uint weight_count; // D, heads·D, or 0 where there are none
uniform uint kind;         // 0 rms, 1 layer, 2 l2
uniform float epsilon;

shared float sums[128];

void main() {
  uint row = first_row + gl_WorkGroupID.x;
  uint token = row % tokens, group = row / tokens;  // of `parts` heads each
  uint count = parts * width;
  uint first = group * parts * tokens * width + token * width;
  // Every thread finds the mean of a layer norm by itself: one sum of the group is enough.
  float mean = 0.0;
  if (kind == 1u) {
    for (uint c = 0u; c < count; ++c) mean += rows[rows_offset + first + c / width * tokens * width + c % width];
    mean /= float(count);
  }
  float squares = 0.0;
  for (uint c = gl_LocalInvocationID.x; c < count; c += 128u) {
    float x = rows[rows_offset + first + c / width * tokens * width + c % width] - mean;
    squares += x * x;
  }
  uint own = gl_LocalInvocationID.x;
  sums[own] = squares;
  barrier();
  for (uint step = 64u; step > 0u; step /= 2u) {
    if (own < step) sums[own] += sums[own + step];
    barrier();
  }
  float factor = 1.0 / sqrt(sums[0] / (kind == 2u ? 1.0 : float(count)) + epsilon);
  for (uint c = gl_LocalInvocationID.x; c < count; c += 128u) {
    uint i = first + c / width * tokens * width + c % width;
    float gain = 1.0;
    if (weight_count > 0u) {
      uint head = (first_head + group * parts + c / width) % heads;
      gain = weights[weights_offset + (weight_count == width ? c % width : head * width + c % width)];
    }
    normed[normed_offset + i] = (rows[rows_offset + i] - mean) * factor * gain;
  }
}
