// A GL name that is deleted with its owner. Move-only; the name 0 owns nothing. The context that created it
// must be current for creating, using and deleting it. And what is done with two kinds of them: compiling
// shaders and linking programs, those that compute and the window's.
#pragma once

#include <epoxy/gl.h>

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace headwise::gl {

// Names the object in debug messages and in frame debuggers; does nothing without KHR_debug.
void label(GLenum identifier, GLuint name, std::string_view text);

// Kind has: static GLuint create(), static void destroy(GLuint), static constexpr GLenum identifier.
template <class Kind>
class Object {
 public:
  Object() = default;
  explicit Object(std::string_view text) : name_(Kind::create()) { label(Kind::identifier, name_, text); }
  Object(Object&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() {
    if (name_ != 0) Kind::destroy(name_);
  }

  GLuint name() const { return name_; }
  explicit operator bool() const { return name_ != 0; }

 private:
  GLuint name_ = 0;
};

// A Kind of Object.
template <GLenum Stage>
struct ShaderKind {
  static GLuint create() { return glCreateShader(Stage); }
  static void destroy(GLuint name) { glDeleteShader(name); }
  static constexpr GLenum identifier = GL_SHADER;
};

// Another: only binding makes a buffer that can be labelled.
template <GLenum Target>
struct BufferKind {
  static GLuint create() {
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(Target, name);
    return name;
  }
  static void destroy(GLuint name) { glDeleteBuffers(1, &name); }
  static constexpr GLenum identifier = GL_BUFFER;
};

// Compiles the texts, concatenated, as one source. Throws Error(no_display) with the driver's log.
void compile_shader(GLuint shader, std::string_view label, std::span<const std::string_view> texts);

// Links the compiled shaders into the program, and detaches them. Throws Error(no_display)
// with the driver's log.
void link_program(GLuint program, std::string_view label, std::initializer_list<GLuint> shaders);

}  // namespace headwise::gl
