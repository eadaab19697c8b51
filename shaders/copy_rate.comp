// Copies numbers from one buffer to another, four at a time; or with FILLS writes the number 4·i + j into j of four i, to have something
// to copy.
layout(local_size_x = 256) in;

#ifndef FILLS
layout(std430, binding = 0) readonly buffer From { uvec4 from[]; };
#endif
layout(std430, binding = 3) writeonly buffer To { uvec4 to[]; };

uniform uint from_offset;  // in fours, as the next three
uniform uint to_offset;
uniform uint first;
uniform uint count;

void main() {
  uint threads = gl_NumWorkGroups.x * 256u;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += threads) {
#ifdef FILLS
    to[to_offset + i] = 4u * (first + i) + uvec4(0u, 1u, 2u, 3u);
#else
    to[to_offset + i] = from[from_offset + i];
#endif
  }
}
