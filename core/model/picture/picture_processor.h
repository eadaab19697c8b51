// From a picture to the numbers that a model of pictures reads: what its preprocessor_config.json says, as
// the image processors of ViT, DeiT and BiT in Hugging Face's transformers compute it with Pillow.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/files/png_file.h"
#include "core/tensor/tensor.h"

namespace headwise {

// In the order of Pillow's numbers, which preprocessor_config.json has as `resample`.
enum class Resample { nearest, lanczos, bilinear, bicubic, box, hamming };

struct PictureSize {
  Index height = 0, width = 0;
  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

// In this order: resize, crop, rescale, normalise.
struct PictureProcessor {
  bool resizes = true;
  PictureSize size = {};  // of a resized picture
  // Instead: the shorter side becomes this, and the other in proportion.
  std::optional<Index> shortest_edge = std::nullopt;
  Resample resample = Resample::bilinear;
  bool crops = false;
  PictureSize crop = {};
  bool rescales = true;
  double rescale_factor = 1.0 / 255.0;
  bool normalises = true;
  std::array<double, 3> mean{0.5, 0.5, 0.5}, deviation{0.5, 0.5, 0.5};
  std::string assumed = {};  // a sentence if there is no preprocessor_config.json; else empty
};

// `model_type` decides what holds where the file has no such key; `reads` is the size of pictures that the
// model reads. Throws Error(input), one sentence: damaged, or a processor that is not computed here.
PictureProcessor read_picture_processor(const std::string& folder, const std::string& model_type,
                                        PictureSize reads);

// Resized and cropped, still in 8 bits: what the patches are cut from. Throws Error(input) for a picture that
// is so much longer than wide that its resized size would be beyond all limits.
RgbPicture prepared(const RgbPicture& picture, const PictureProcessor& processor);
// (C,H,W) in f32, C = 3: rescaled and normalised.
Tensor pixel_values(const RgbPicture& prepared, const PictureProcessor& processor);

// As Pillow 13 does it (Image.resize, without reducing_gap): each pixel is a weighted mean of those under a
// filter that is widened where the picture shrinks; along rows and along columns, with 8-bit values between.
// Throws Error(memory). Both sizes are 1 or more.
RgbPicture resized(const RgbPicture& picture, Index width, Index height, Resample filter);

// The part of this size in the middle; black where the picture is smaller.
RgbPicture centre_crop(const RgbPicture& picture, Index width, Index height);

}  // namespace headwise
