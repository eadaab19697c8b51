// A compute shader, compiled from its file with its constants set.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/object.h"
#include "core/tensor/shape.h"

namespace headwise {

class ComputeProgram {
 public:
  struct Define {
    std::string name;
    Index value = 1;
  };

  ComputeProgram() = default;
  // The files' texts are concatenated, empty ones left out. Throws Error(no_display) with the first words of
  // the driver's log if they do not compile.
  ComputeProgram(std::string_view label, const std::vector<Define>& defines,
                 std::initializer_list<std::string_view> sources);

  explicit operator bool() const { return static_cast<bool>(object_); }
  void use() const { glUseProgram(object_.name()); }
  // Of the program in use. A name that the compiler has optimised away is ignored.
  void set(const char* name, std::uint32_t value) const { glUniform1ui(at(name), value); }
  void set(const char* name, int value) const { glUniform1i(at(name), value); }
  void set(const char* name, bool value) const { glUniform1i(at(name), value ? 1 : 0); }
  void set(const char* name, float value) const { glUniform1f(at(name), value); }
  void set(const char* name, std::array<std::uint32_t, 2> v) const { glUniform2ui(at(name), v[0], v[1]); }
  void set(const char* name, std::array<std::uint32_t, 4> v) const {
    glUniform4ui(at(name), v[0], v[1], v[2], v[3]);
  }
  // Any size or offset; the caller has made sure that it fits in 32 bits.
  void set_size(const char* name, Index value) const { set(name, static_cast<std::uint32_t>(value)); }

 private:
  struct Kind {
    static GLuint create() { return glCreateProgram(); }
    static void destroy(GLuint name) { glDeleteProgram(name); }
    static constexpr GLenum identifier = GL_PROGRAM;
  };
  GLint at(std::string_view name) const;
  gl::Object<Kind> object_;
  // Some fifty are set before a dispatch, and a driver may have to wait for another thread before it can tell
  // where one is.
  mutable std::map<std::string, GLint, std::less<>> places_;
};

}  // namespace headwise
