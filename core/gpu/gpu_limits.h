// The limits of the current OpenGL context for compute shaders.
#pragma once

#include <string>

#include "core/tensor/shape.h"

namespace headwise {

struct GpuLimits {
  Index shared_bytes = 0;         // shared by the threads of a work group; the standard guarantees 32 KiB
  Index storage_block_bytes = 0;  // the largest piece of a buffer that a shader can bind at once; at least 128
                                  // MiB
  Index offset_alignment = 0;     // of the start of such a piece, bytes
  Index groups_x = 0, groups_y = 0;  // work groups of one dispatch
  bool clustered_subgroups = false;  // 16 adjacent threads can reduce among themselves (GL_KHR_shader_subgroup)
};

// A sentence saying why the current context cannot compute; empty if it can (OpenGL 4.3, or ARB_compute_shader
// and ARB_shader_storage_buffer_object).
std::string compute_refusal();

// Of the current context, which must be able to compute.
GpuLimits gpu_limits();

}  // namespace headwise
