// A picture made elsewhere, as a texture that ImGui can draw: pixel for pixel, without filtering.
#pragma once

#include <cstdint>

#include "app/platform/drawing_objects.h"
#include "core/export/image.h"

namespace headwise {

class PictureTexture {
 public:
  // Needs a current GL context, here and on destruction. The image must not be empty.
  explicit PictureTexture(const Image& image);

  int width() const { return texture_.width(); }
  int height() const { return texture_.height(); }
  // The number by which ImGui's OpenGL backend draws it (ImTextureID).
  std::intptr_t id() const { return static_cast<std::intptr_t>(texture_.name()); }

 private:
  gl::Texture texture_;
};

// The image reduced to width × height pixels, each the mean of the block that it covers. Both must be at most
// those of the image.
Image reduced(const Image& image, int width, int height);

}  // namespace headwise
