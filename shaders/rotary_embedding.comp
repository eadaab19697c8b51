// Rotary position embedding: rows of heads, columns j and j + R/2 turned by the angle of the row's position. A thread makes one
// number.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer Rows { float rows[]; };        // (…,T,D)
layout(std430, binding = 1) readonly buffer Turns { float turns[]; };      // (T,R/2,2): cos and sin
layout(std430, binding = 3) writeonly buffer Turned { float turned[]; };   // (…,T,D)

uniform uint count;        // numbers of this binding, whole rows
uniform uint rows_offset;  // of the first row
uniform uint turns_offset;
uniform uint turned_offset;
uniform uint first_row;    // of this binding, among all
uniform uint tokens;       // T
uniform uint width;        // D
uniform uint pairs;        // R/2
uniform uint first_block;  // of 256 numbers, in this slice

void main() {
  uint i = (first_block + gl_WorkGroupID.x) * 256u + gl_LocalInvocationID.x;
  if (i >= count) return;
  uint column = i % width;
  float own = rows[rows_offset + i];
  if (column < 2u * pairs) {
    bool is_first = column < pairs;
    uint turn = turns_offset + 2u * ((first_row + i / width) % tokens * pairs + column % pairs);
    float partner = rows[rows_offset + (is_first ? i + pairs : i - pairs)];
    own = own * turns[turn] + (is_first ? -partner : partner) * turns[turn + 1u];
  }
  turned[turned_offset + i] = own;
}
