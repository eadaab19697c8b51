// Resizing as Pillow 13 does it (Image.resize, without reducing_gap): each pixel is a weighted mean of those
// under a filter that is widened where the picture shrinks; along rows and along columns, with 8-bit values
// between.
#pragma once

#include "core/files/png_file.h"

namespace headwise {

// In the order of Pillow's numbers, which preprocessor_config.json has as `resample`.
enum class Resample { nearest, lanczos, bilinear, bicubic, box, hamming };

// Throws Error(memory). Both sizes are 1 or more.
RgbPicture resized(const RgbPicture& picture, Index width, Index height, Resample filter);

// The part of this size in the middle; black where the picture is smaller.
RgbPicture centre_crop(const RgbPicture& picture, Index width, Index height);

}  // namespace headwise
