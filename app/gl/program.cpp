#include "app/gl/program.h"

#include <string>

#include "core/tensor/error.h"

namespace headwise::gl {

namespace {

template <GLenum Stage>
struct ShaderKind {
  static GLuint create() { return glCreateShader(Stage); }
  static void destroy(GLuint name) { glDeleteShader(name); }
  static constexpr GLenum identifier = GL_SHADER;
};

[[noreturn]] void fail(std::string_view label, const char* what, const std::string& log) {
  throw Error(ExitStatus::no_display, {.where = "OpenGL shader " + std::string(label),
                                       .what = what,
                                       .got = log,
                                       .expected = "",
                                       .remedy = "update the graphics driver"});
}

template <GLenum Stage>
Object<ShaderKind<Stage>> compile(std::string_view text, std::span<const unsigned char> source) {
  Object<ShaderKind<Stage>> shader(text);
  const GLchar* begin = reinterpret_cast<const GLchar*>(source.data());
  const GLint length = static_cast<GLint>(source.size());
  glShaderSource(shader.name(), 1, &begin, &length);
  glCompileShader(shader.name());
  GLint good = GL_FALSE, log_length = 0;
  glGetShaderiv(shader.name(), GL_COMPILE_STATUS, &good);
  if (good == GL_TRUE) return shader;
  glGetShaderiv(shader.name(), GL_INFO_LOG_LENGTH, &log_length);
  std::string log(static_cast<std::size_t>(log_length), '\0');
  glGetShaderInfoLog(shader.name(), log_length, nullptr, log.data());
  fail(text, "does not compile", log);
}

}  // namespace

GLuint ProgramKind::create() {
  return glCreateProgram();
}

void ProgramKind::destroy(GLuint name) {
  glDeleteProgram(name);
}

Program::Program(std::string_view text, std::span<const unsigned char> vertex,
                 std::span<const unsigned char> fragment)
    : object_(text) {
  const auto vertex_shader = compile<GL_VERTEX_SHADER>(text, vertex);
  const auto fragment_shader = compile<GL_FRAGMENT_SHADER>(text, fragment);
  glAttachShader(object_.name(), vertex_shader.name());
  glAttachShader(object_.name(), fragment_shader.name());
  glLinkProgram(object_.name());
  glDetachShader(object_.name(), vertex_shader.name());
  glDetachShader(object_.name(), fragment_shader.name());
  GLint good = GL_FALSE, log_length = 0;
  glGetProgramiv(object_.name(), GL_LINK_STATUS, &good);
  if (good == GL_TRUE) return;
  glGetProgramiv(object_.name(), GL_INFO_LOG_LENGTH, &log_length);
  std::string log(static_cast<std::size_t>(log_length), '\0');
  glGetProgramInfoLog(object_.name(), log_length, nullptr, log.data());
  fail(text, "does not link", log);
}

}  // namespace headwise::gl
