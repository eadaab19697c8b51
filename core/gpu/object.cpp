#include "core/gpu/object.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/tensor/error.h"

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

namespace {

// `get` and `get_log` are the functions for shaders or for programs.
template <class Get, class GetLog>
void require(GLuint name, GLenum status, const Get& get, const GetLog& get_log, std::string_view label,
             const char* what) {
  GLint good = GL_FALSE, length = 0;
  get(name, status, &good);
  if (good == GL_TRUE) return;
  get(name, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 0)), '\0');
  get_log(name, length, nullptr, log.data());
  throw Error(ExitStatus::no_display, {.where = "OpenGL shader " + std::string(label),
                                       .what = what,
                                       .got = log,
                                       .expected = "",
                                       .remedy = "update the graphics driver"});
}

}  // namespace

void compile_shader(GLuint shader, std::string_view label, std::span<const std::string_view> texts) {
  std::vector<const GLchar*> begins;
  std::vector<GLint> lengths;
  for (const std::string_view text : texts) {
    begins.push_back(text.data());
    lengths.push_back(static_cast<GLint>(text.size()));
  }
  glShaderSource(shader, static_cast<GLsizei>(texts.size()), begins.data(), lengths.data());
  glCompileShader(shader);
  require(shader, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog, label, "does not compile");
}

void link_program(GLuint program, std::string_view label, std::initializer_list<GLuint> shaders) {
  for (const GLuint shader : shaders) glAttachShader(program, shader);
  glLinkProgram(program);
  for (const GLuint shader : shaders) glDetachShader(program, shader);
  require(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog, label, "does not link");
}

}  // namespace headwise::gl
