#include "app/gl/renderer_name.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace headwise::gl {

namespace {

// In small letters. "Software Rasterizer" is swrast's name for itself.
constexpr std::array<std::string_view, 7> software_names{
    "llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader", "lavapipe", "basic render"};

}  // namespace

std::string renderer_name() {
  const GLubyte* name = glGetString(GL_RENDERER);
  const int version = epoxy_gl_version();
  return fmt::format("{}, OpenGL {}.{}", name == nullptr ? "unknown" : reinterpret_cast<const char*>(name),
                     version / 10, version % 10);
}

bool is_software(std::string_view renderer) {
  std::string small(renderer);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::ranges::any_of(software_names,
                             [&](std::string_view name) { return small.find(name) != std::string::npos; });
}

bool expects_gpu() {
  const char* const value = std::getenv("HEADWISE_EXPECT_GPU");
  const std::string_view said = value == nullptr ? "" : value;
  return !said.empty() && said != "0";
}

std::string missing_gpu(std::string_view renderer) {
  if (!is_software(renderer)) return "";
  return fmt::format("HEADWISE_EXPECT_GPU is set, but the renderer is software: {}", renderer);
}

}  // namespace headwise::gl
