#include "app/gl/vertex_array.h"

namespace headwise::gl {

GLuint VertexArrayKind::create() {
  GLuint name = 0;
  glGenVertexArrays(1, &name);
  return name;
}

void VertexArrayKind::destroy(GLuint name) {
  glDeleteVertexArrays(1, &name);
}

}  // namespace headwise::gl
