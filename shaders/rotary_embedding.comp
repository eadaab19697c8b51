// Rotary position embedding: rows of heads, the columns j·step and j·step + apart of pair j rotated by the angle of the row's
// position. A thread makes one number.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer Rows { float rows[]; };        // (…,T,D)
layout(std430, binding = 1) readonly buffer Rotations { float rotations[]; };      // (T,R/2,2): cos and sin
layout(std430, binding = 3) writeonly buffer Rotated { float rotated[]; };   // (…,T,D)

uniform uint count;        // numbers of this binding, whole rows
uniform uint rows_offset;  // of the first row
uniform uint rotations_offset;
uniform uint rotated_offset;
uniform uint first_row;    // of this binding, among all
uniform uint tokens;       // T
uniform uint width;        // D
uniform uint pairs;        // R/2
uniform uint step;         // 1 where pairs are halves, 2 where they are neighbours
uniform uint apart;        // R/2, or 1
uniform uint first_block;  // of 256 numbers, in this slice

void main() {
  uint i = (first_block + gl_WorkGroupID.x) * 256u + gl_LocalInvocationID.x;
  if (i >= count) return;
  uint column = i % width;
  float own = rows[rows_offset + i];
  if (column < 2u * pairs) {
    uint pair = step == 1u ? column % pairs : column / step;
    bool is_first = column == pair * step;
    uint rotation = rotations_offset + 2u * ((first_row + i / width) % tokens * pairs + pair);
    float partner = rows[rows_offset + (is_first ? i + apart : i - apart)];
    own = own * rotations[rotation] + (is_first ? -partner : partner) * rotations[rotation + 1u];
  }
  rotated[rotated_offset + i] = own;
}
