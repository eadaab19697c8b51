#include "app/gl/renderer_name.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <cstdlib>

#include "core/gpu/gpu_limits.h"

namespace headwise::gl {

std::string renderer_name() {
  const GLubyte* name = glGetString(GL_RENDERER);
  const int version = epoxy_gl_version();
  return fmt::format("{}, OpenGL {}.{}", name == nullptr ? "unknown" : reinterpret_cast<const char*>(name),
                     version / 10, version % 10);
}

bool expects_gpu() {
  const char* const value = std::getenv("HEADWISE_EXPECT_GPU");
  const std::string_view said = value == nullptr ? "" : value;
  return !said.empty() && said != "0";
}

std::string missing_gpu(std::string_view renderer) {
  if (!is_software_renderer(renderer)) return "";
  return fmt::format("HEADWISE_EXPECT_GPU is set, but the renderer is software: {}", renderer);
}

}  // namespace headwise::gl
