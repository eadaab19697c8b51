// A GL name that is deleted with its owner. Move-only; the name 0 owns nothing. The context that created it
// must be current for creating, using and deleting it.
#pragma once

#include <epoxy/gl.h>

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

}  // namespace headwise::gl
