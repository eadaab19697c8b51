#include "app/gl/program.h"

#include <string_view>

#include "core/gpu/object.h"

namespace headwise::gl {

namespace {

template <GLenum Stage>
Object<ShaderKind<Stage>> compile(std::string_view label, std::span<const unsigned char> source) {
  Object<ShaderKind<Stage>> shader(label);
  const std::string_view text(reinterpret_cast<const char*>(source.data()), source.size());
  compile_shader(shader.name(), label, {&text, 1});
  return shader;
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
  link_program(object_.name(), text, {vertex_shader.name(), fragment_shader.name()});
}

}  // namespace headwise::gl
