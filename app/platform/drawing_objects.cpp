#include "app/platform/drawing_objects.h"

#include <fmt/format.h>

#include "core/tensor/error.h"

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

template <GLenum Stage>
Object<ShaderKind<Stage>> compile(std::string_view label, std::string_view source) {
  Object<ShaderKind<Stage>> shader(label);
  compile_shader(shader.name(), label, {&source, 1});
  return shader;
}

}  // namespace

template <GLenum Identifier>
GLuint DrawingKind<Identifier>::create() {
  GLuint name = 0;
  if constexpr (Identifier == GL_PROGRAM) name = glCreateProgram();
  if constexpr (Identifier == GL_TEXTURE) glGenTextures(1, &name);
  if constexpr (Identifier == GL_FRAMEBUFFER) glGenFramebuffers(1, &name);
  if constexpr (Identifier == GL_VERTEX_ARRAY) glGenVertexArrays(1, &name);
  return name;
}

template <GLenum Identifier>
void DrawingKind<Identifier>::destroy(GLuint name) {
  if constexpr (Identifier == GL_PROGRAM) glDeleteProgram(name);
  if constexpr (Identifier == GL_TEXTURE) glDeleteTextures(1, &name);
  if constexpr (Identifier == GL_FRAMEBUFFER) glDeleteFramebuffers(1, &name);
  if constexpr (Identifier == GL_VERTEX_ARRAY) glDeleteVertexArrays(1, &name);
}

template struct DrawingKind<GL_TEXTURE>;
template struct DrawingKind<GL_FRAMEBUFFER>;
template struct DrawingKind<GL_PROGRAM>;
template struct DrawingKind<GL_VERTEX_ARRAY>;

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

Program::Program(std::string_view text, std::string_view vertex, std::string_view fragment) : object_(text) {
  const auto vertex_shader = compile<GL_VERTEX_SHADER>(text, vertex);
  const auto fragment_shader = compile<GL_FRAGMENT_SHADER>(text, fragment);
  link_program(object_.name(), text, {vertex_shader.name(), fragment_shader.name()});
}

}  // namespace headwise::gl
