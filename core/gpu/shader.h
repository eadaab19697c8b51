// Compiles and links shaders and reports driver errors: used by the compute shaders and the window's.
#pragma once

#include <epoxy/gl.h>

#include <initializer_list>
#include <span>
#include <string_view>

namespace headwise::gl {

// A Kind of Object (core/gpu/object.h).
template <GLenum Stage>
struct ShaderKind {
  static GLuint create() { return glCreateShader(Stage); }
  static void destroy(GLuint name) { glDeleteShader(name); }
  static constexpr GLenum identifier = GL_SHADER;
};

// Compiles the texts, concatenated, as one source. Throws Error(no_display) with the driver's log.
void compile_shader(GLuint shader, std::string_view label, std::span<const std::string_view> texts);

// Links the compiled shaders into the program, and detaches them. Throws Error(no_display)
// with the driver's log.
void link_program(GLuint program, std::string_view label, std::initializer_list<GLuint> shaders);

}  // namespace headwise::gl
