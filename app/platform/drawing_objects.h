// What is drawn with, as objects of the current OpenGL context that free themselves: textures, framebuffers,
// programs and vertex arrays.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/gpu/object.h"

namespace headwise::gl {

// How objects of a kind are made and deleted.
template <GLenum Identifier>
struct DrawingKind {
  static GLuint create();
  static void destroy(GLuint name);
  static constexpr GLenum identifier = Identifier;
};

enum class TexelFormat {
  rgba8,  // colours, 4 bytes per texel
  rg32f,  // two floats per texel
};

// Two-dimensional, read with texelFetch: no filtering, no mip levels, edges clamped.
class Texture {
 public:
  Texture() = default;
  // width, height > 0 and at most max_texture_size(). texels: width*height texels, rows from the top, or
  // null. Binds to GL_TEXTURE_2D of the active unit.
  Texture(std::string_view label, TexelFormat format, int width, int height, const void* texels);

  int width() const { return width_; }
  int height() const { return height_; }
  GLuint name() const { return object_.name(); }
  explicit operator bool() const { return static_cast<bool>(object_); }
  void bind(int unit) const;

 private:
  Object<DrawingKind<GL_TEXTURE>> object_;
  int width_ = 0, height_ = 0;
};

// Largest texture side that this context supports.
int max_texture_size();

// With one RGBA8 texture to draw into: the screen of a context without one.
class Framebuffer {
 public:
  // width, height in pixels, > 0. Throws Error(no_display) if the driver cannot draw into it.
  Framebuffer(std::string_view label, int width, int height);

  int width() const { return color_.width(); }
  int height() const { return color_.height(); }
  // For drawing and reading; sets the viewport to all of it.
  void bind() const;
  // RGBA, 4 bytes per pixel, rows from the top.
  std::vector<std::uint8_t> read_pixels() const;

 private:
  Texture color_;
  Object<DrawingKind<GL_FRAMEBUFFER>> object_;
};

// A linked pair of vertex and fragment shader.
class Program {
 public:
  // The text of the two shader files. Throws Error(no_display) with the start of the driver's message if they
  // do not compile or link.
  Program(std::string_view label, std::string_view vertex, std::string_view fragment);

  void use() const { glUseProgram(object_.name()); }
  // -1 if the compiler has removed it; glUniform* ignores that.
  GLint uniform(const char* name) const { return glGetUniformLocation(object_.name(), name); }

 private:
  Object<DrawingKind<GL_PROGRAM>> object_;
};

// Of a program whose vertices come from gl_VertexID: core profiles draw nothing without one.
using VertexArray = Object<DrawingKind<GL_VERTEX_ARRAY>>;

}  // namespace headwise::gl
