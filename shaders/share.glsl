// What each thread has written to shared memory is seen by the others from here on.
void share() {
  // NVIDIA's barrier() orders what is shared by itself, and its memoryBarrierShared() waits for all other
  // memory too: that took an H100 a sixth more time. No other driver knows this extension.
#ifndef GL_NV_shader_thread_group
  memoryBarrierShared();
#endif
  barrier();
}
