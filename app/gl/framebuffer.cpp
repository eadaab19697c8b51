#include "app/gl/framebuffer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"

namespace headwise::gl {

GLuint FramebufferKind::create() {
  GLuint name = 0;
  glGenFramebuffers(1, &name);
  return name;
}

void FramebufferKind::destroy(GLuint name) {
  glDeleteFramebuffers(1, &name);
}

Framebuffer::Framebuffer(std::string_view text, int width, int height)
    : color_(text, TexelFormat::rgba8, width, height, nullptr), object_(text) {
  glBindFramebuffer(GL_FRAMEBUFFER, object_.name());
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color_.name(), 0);
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (status != GL_FRAMEBUFFER_COMPLETE)
    throw Error(ExitStatus::no_display, {.where = "OpenGL",
                                         .what = "cannot draw into a texture",
                                         .got = fmt::format("status {:#x} at {}×{}", status, width, height),
                                         .expected = "",
                                         .remedy = "update the graphics driver"});
}

void Framebuffer::bind() const {
  glBindFramebuffer(GL_FRAMEBUFFER, object_.name());
  glViewport(0, 0, width(), height());
}

std::vector<std::uint8_t> Framebuffer::read_pixels() const {
  const std::size_t row_bytes = static_cast<std::size_t>(width()) * 4;
  std::vector<std::uint8_t> upside_down(row_bytes * static_cast<std::size_t>(height()));
  glBindFramebuffer(GL_FRAMEBUFFER, object_.name());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glPixelStorei(GL_PACK_ROW_LENGTH, 0);
  glReadPixels(0, 0, width(), height(), GL_RGBA, GL_UNSIGNED_BYTE, upside_down.data());
  // GL counts rows from the bottom.
  std::vector<std::uint8_t> pixels;
  pixels.reserve(upside_down.size());
  for (auto end = upside_down.end(); end != upside_down.begin(); end -= static_cast<std::ptrdiff_t>(row_bytes))
    pixels.insert(pixels.end(), end - static_cast<std::ptrdiff_t>(row_bytes), end);
  return pixels;
}

}  // namespace headwise::gl
