// What 16 neighbouring threads find out together: their largest number and their sum, of the numbers of the threads. One work group.
layout(local_size_x = 256) in;

layout(std430, binding = 3) writeonly buffer Found { vec2 found[]; };

uniform uint found_offset;

void main() {
  float number = float(gl_LocalInvocationIndex);
  found[found_offset + gl_LocalInvocationIndex] = vec2(subgroupClusteredMax(number, 16u), subgroupClusteredAdd(number, 16u));
}
