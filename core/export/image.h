// RGBA images.
#pragma once

#include <cstdint>
#include <vector>

namespace headwise {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // row-major from the top, straight alpha
};

constexpr int max_image_side = 32768;
// Pixels per inch on paper, unless others are asked for: what CSS, and so an SVG, calls a pixel.
constexpr double usual_dpi = 96.0;

// Throws Error(usage) above max_image_side, Error(memory) if four bytes per pixel are not available.
void check_image_size(double width, double height);

// The same image gives the same bytes (for one version of libpng and zlib). Opaque images are stored as RGB.
// Throws Error(usage) for an empty image.
std::vector<std::uint8_t> to_png(const Image& image);
// The same with `dpi` pixels per inch declared (pHYs), for programs that ask how large it is on paper.
std::vector<std::uint8_t> to_png(const Image& image, double dpi);

// A sequence of pictures as one animated PNG (APNG, part of the PNG specification since its third edition): a
// browser or a slide program plays it, a program that supports only PNG shows its first picture.

class AnimatedPng {
 public:
  // `repeats`: how often it is played; 0: endlessly.
  explicit AnimatedPng(int repeats = 0) : repeats_(repeats) {}

  // Adds a picture shown for this long. All have the size of the first and no transparency. Only the
  // rectangle that differs from the previous picture is stored; an identical one prolongs it. Throws
  // Error(usage) for another size.
  void add(const Image& picture, int milliseconds);

  int frame_count() const { return static_cast<int>(frames_.size()); }
  // The whole file. Throws Error(usage) if nothing was added.
  std::vector<std::uint8_t> finish() const;

 private:
  struct Frame {
    int x = 0, y = 0, width = 0, height = 0;
    int milliseconds = 0;
    std::vector<std::uint8_t> data;  // the contents of IDAT
  };

  int repeats_;
  Image last_;
  std::vector<std::uint8_t> header_;  // signature and all chunks before the first IDAT
  std::vector<Frame> frames_;
};

}  // namespace headwise
