// The vertex array of a program whose vertices come from gl_VertexID: core profiles draw nothing without one.
#pragma once

#include "core/gpu/object.h"

namespace headwise::gl {

struct VertexArrayKind {
  static GLuint create();
  static void destroy(GLuint name);
  static constexpr GLenum identifier = GL_VERTEX_ARRAY;
};

using VertexArray = Object<VertexArrayKind>;

}  // namespace headwise::gl
