// Multiply-adds of numbers that stay in registers, as many as the GPU can do: eight independent chains a thread. Each step turns x into
// term − x, so that after an even number of them every x is what it was: the sum of a group's first thread, which is kept, proves that
// they were done.
layout(local_size_x = 256) in;

layout(std430, binding = 3) writeonly buffer Sums { float sums[]; };  // of each work group

uniform uint sums_offset;
uniform uint rounds;
uniform float factor;  // −1, which the compiler does not know
uniform float term;    // 1

// Written as in the products of the other shaders: compilers for GPUs fuse it.
#define STEP              \
  a = a * factor + term; \
  b = b * factor + term;
#define FOUR_STEPS STEP STEP STEP STEP

void main() {
  uint thread = gl_LocalInvocationIndex;
  vec4 a = (vec4(0.0, 1.0, 2.0, 3.0) + float(thread)) / 512.0;
  vec4 b = (vec4(4.0, 5.0, 6.0, 7.0) + float(thread)) / 512.0;
  for (uint i = 0u; i < rounds; ++i) {
    FOUR_STEPS
    FOUR_STEPS
    FOUR_STEPS
    FOUR_STEPS
  }
  float sum = dot(a, vec4(1.0)) + dot(b, vec4(1.0));
  // Never negative: the other threads work for a store that does not happen.
  if (thread == 0u || sum < 0.0) sums[sums_offset + gl_WorkGroupID.x] = sum;
}
