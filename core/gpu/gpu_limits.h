// What the current OpenGL context can do for compute shaders.
#pragma once

#include <string>

#include "core/tensor/shape.h"

namespace headwise {

struct GpuLimits {
  Index shared_bytes = 0;         // that a work group's threads share; the standard promises 32 KiB
  Index storage_block_bytes = 0;  // the largest piece of a buffer that a shader sees at once; at least 128 MiB
  Index offset_alignment = 0;     // of the beginning of such a piece, bytes
  Index groups_x = 0, groups_y = 0;  // work groups of one dispatch
  bool clustered_subgroups =
      false;  // 16 neighbouring threads can reduce among themselves (GL_KHR_shader_subgroup)
};

// Why the current context cannot compute, a sentence; empty where it can (OpenGL 4.3, or ARB_compute_shader and
// ARB_shader_storage_buffer_object).
std::string compute_refusal();

// Of the current context, which must be able to compute.
GpuLimits gpu_limits();

}  // namespace headwise
