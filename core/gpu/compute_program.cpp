#include "core/gpu/compute_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"

namespace headwise {
namespace {

struct ShaderKind {
  static GLuint create() { return glCreateShader(GL_COMPUTE_SHADER); }
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

}  // namespace

ComputeProgram::ComputeProgram(std::string_view label, const std::vector<Define>& defines,
                               std::initializer_list<Source> sources)
    : object_(label) {
  std::string head = "#version 430 core\n";
  for (const Define& define : defines) {
    if (define.name == "SUBGROUPS") head += "#extension GL_KHR_shader_subgroup_clustered : require\n";
    head += fmt::format("#define {} {}u\n", define.name, define.value);
  }
  std::vector<const GLchar*> texts{head.data()};
  std::vector<GLint> lengths{static_cast<GLint>(head.size())};
  for (const Source source : sources) {
    texts.push_back(reinterpret_cast<const GLchar*>(source.data()));
    lengths.push_back(static_cast<GLint>(source.size()));
  }
  const gl::Object<ShaderKind> shader(label);
  glShaderSource(shader.name(), static_cast<GLsizei>(texts.size()), texts.data(), lengths.data());
  glCompileShader(shader.name());
  GLint good = GL_FALSE, length = 0;
  glGetShaderiv(shader.name(), GL_COMPILE_STATUS, &good);
  if (good != GL_TRUE) {
    glGetShaderiv(shader.name(), GL_INFO_LOG_LENGTH, &length);
    std::string log(static_cast<std::size_t>(std::max(length, 0)), '\0');
    glGetShaderInfoLog(shader.name(), length, nullptr, log.data());
    fail(label, "does not compile", log);
  }
  glAttachShader(object_.name(), shader.name());
  glLinkProgram(object_.name());
  glDetachShader(object_.name(), shader.name());
  glGetProgramiv(object_.name(), GL_LINK_STATUS, &good);
  if (good == GL_TRUE) return;
  glGetProgramiv(object_.name(), GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 0)), '\0');
  glGetProgramInfoLog(object_.name(), length, nullptr, log.data());
  fail(label, "does not link", log);
}

}  // namespace headwise
