#include "app/gl/texture.h"

namespace headwise::gl {

namespace {

struct Layout {
  GLint internal_format;
  GLenum format, type;
};

Layout layout_of(TexelFormat format) {
  return format == TexelFormat::rgba8 ? Layout{GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE}
                                      : Layout{GL_RG32F, GL_RG, GL_FLOAT};
}

}  // namespace

GLuint TextureKind::create() {
  GLuint name = 0;
  glGenTextures(1, &name);
  return name;
}

void TextureKind::destroy(GLuint name) {
  glDeleteTextures(1, &name);
}

Texture::Texture(std::string_view text, TexelFormat format, int width, int height, const void* texels)
    : object_(text), width_(width), height_(height) {
  const Layout layout = layout_of(format);
  glBindTexture(GL_TEXTURE_2D, object_.name());
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
  // Both set, because other users of the context (ImGui's font upload) leave their own values behind.
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, layout.internal_format, width, height, 0, layout.format, layout.type, texels);
}

void Texture::bind(int unit) const {
  glActiveTexture(static_cast<GLenum>(GL_TEXTURE0 + unit));
  glBindTexture(GL_TEXTURE_2D, object_.name());
}

int max_texture_size() {
  GLint size = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
  return size;
}

}  // namespace headwise::gl
