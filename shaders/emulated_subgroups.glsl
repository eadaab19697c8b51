// Subgroups of 16 threads for a driver without them, by shared memory: slow, so that the code that uses subgroups can be tested.
shared float emulated_lanes[256];

float emulated_cluster(float value, bool largest) {
  uint thread = gl_LocalInvocationIndex, first = thread / 16u * 16u;
  barrier();
  emulated_lanes[thread] = value;
  memoryBarrierShared();
  barrier();
  float all = emulated_lanes[first];
  for (uint t = 1u; t < 16u; ++t) all = largest ? max(all, emulated_lanes[first + t]) : all + emulated_lanes[first + t];
  return all;
}

float subgroupClusteredMax(float value, uint size) { return emulated_cluster(value, true); }
float subgroupClusteredAdd(float value, uint size) { return emulated_cluster(value, false); }
