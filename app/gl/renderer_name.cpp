#include "app/gl/renderer_name.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

namespace headwise::gl {

std::string renderer_name() {
  const GLubyte* name = glGetString(GL_RENDERER);
  const int version = epoxy_gl_version();
  return fmt::format("{}, OpenGL {}.{}", name == nullptr ? "unknown" : reinterpret_cast<const char*>(name),
                     version / 10, version % 10);
}

}  // namespace headwise::gl
