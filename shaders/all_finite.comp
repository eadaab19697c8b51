// Whether a buffer holds nothing but finite numbers: a mask may leave out only such keys and values, for 0 · NaN is NaN.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer Numbers { uint numbers[]; };
layout(std430, binding = 7) buffer Skips { uint skips[]; };  // [0] becomes 1 where one is not finite

uniform uint offset;
uniform uint count;

void main() {
  bool found = false;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 256u)
    found = found || (numbers[offset + i] & 0x7F800000u) == 0x7F800000u;
  if (found) atomicOr(skips[0], 1u);
}
