// A linked pair of vertex and fragment shader.
#pragma once

#include <span>
#include <string_view>

#include "core/gpu/object.h"

namespace headwise::gl {

struct ProgramKind {
  static GLuint create();
  static void destroy(GLuint name);
  static constexpr GLenum identifier = GL_PROGRAM;
};

class Program {
 public:
  // The text of the two shader files. Throws Error(no_display) with the start of the driver's message if they
  // do not compile or link.
  Program(std::string_view label, std::span<const unsigned char> vertex,
          std::span<const unsigned char> fragment);

  void use() const { glUseProgram(object_.name()); }
  // -1 if the compiler has removed it; glUniform* ignores that.
  GLint uniform(const char* name) const { return glGetUniformLocation(object_.name(), name); }

 private:
  Object<ProgramKind> object_;
};

}  // namespace headwise::gl
