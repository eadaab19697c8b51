// A framebuffer with one RGBA8 texture to draw into: the screen of a context without one.
#pragma once

#include <cstdint>
#include <vector>

#include "app/gl/texture.h"

namespace headwise::gl {

struct FramebufferKind {
  static GLuint create();
  static void destroy(GLuint name);
  static constexpr GLenum identifier = GL_FRAMEBUFFER;
};

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
  Object<FramebufferKind> object_;
};

}  // namespace headwise::gl
