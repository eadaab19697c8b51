#include "core/gpu/object.h"

namespace headwise::gl {

void label(GLenum identifier, GLuint name, std::string_view text) {
  if (epoxy_gl_version() < 43 && !epoxy_has_gl_extension("GL_KHR_debug")) return;
  // A name that was generated but never bound is not an object yet, and labelling it is an error.
  switch (identifier) {
    case GL_VERTEX_ARRAY:
      glBindVertexArray(name);
      break;
    case GL_FRAMEBUFFER:
      glBindFramebuffer(GL_FRAMEBUFFER, name);
      break;
    case GL_TEXTURE:
      glBindTexture(GL_TEXTURE_2D, name);
      break;
    default:
      break;
  }
  glObjectLabel(identifier, name, static_cast<GLsizei>(text.size()), text.data());
}

}  // namespace headwise::gl
