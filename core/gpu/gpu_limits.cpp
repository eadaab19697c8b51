#include "core/gpu/gpu_limits.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "core/gpu/gpu_faults.h"

namespace headwise {
namespace {

// GL_KHR_shader_subgroup; libepoxy 1.5 does not define them.
constexpr GLenum subgroup_size = 0x9532, subgroup_stages = 0x9533, subgroup_features = 0x9534;
constexpr GLint feature_clustered = 0x40;

Index integer(GLenum name) {
  GLint64 value = 0;
  glGetInteger64v(name, &value);
  return value;
}

bool has_clustered_subgroups() {
  if (!epoxy_has_gl_extension("GL_KHR_shader_subgroup")) return false;
  const Index size = integer(subgroup_size);
  // A work group of 256 threads is split into subgroups in order if their size divides it.
  return size >= 16 && size <= 128 && (integer(subgroup_stages) & GL_COMPUTE_SHADER_BIT) != 0 &&
         (integer(subgroup_features) & feature_clustered) != 0;
}

}  // namespace

std::string compute_refusal() {
  const int version = epoxy_gl_version();
  const bool extensions = epoxy_has_gl_extension("GL_ARB_compute_shader") &&
                          epoxy_has_gl_extension("GL_ARB_shader_storage_buffer_object");
  if ((version >= 43 || (version >= 42 && extensions)) && !compute_is_missing()) return "";
  return fmt::format("compute shaders need OpenGL 4.3, this context has {}.{}", version / 10, version % 10);
}

GpuLimits gpu_limits() {
  GpuLimits limits;
  limits.shared_bytes = integer(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
  limits.storage_block_bytes = integer(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
  limits.offset_alignment = integer(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
  GLint groups = 0;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups);
  limits.groups_x = groups;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 1, &groups);
  limits.groups_y = groups;
  limits.clustered_subgroups = has_clustered_subgroups();
  return limits;
}

}  // namespace headwise
