// A two-dimensional texture read with texelFetch: no filtering, no mip levels, edges clamped.
#pragma once

#include <string_view>

#include "core/gpu/object.h"

namespace headwise::gl {

enum class TexelFormat {
  rgba8,  // colours, 4 bytes per texel
  rg32f,  // two floats per texel
};

struct TextureKind {
  static GLuint create();
  static void destroy(GLuint name);
  static constexpr GLenum identifier = GL_TEXTURE;
};

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
  Object<TextureKind> object_;
  int width_ = 0, height_ = 0;
};

// Largest texture side that this context supports.
int max_texture_size();

}  // namespace headwise::gl
