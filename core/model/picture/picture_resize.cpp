#include "core/model/picture/picture_resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr Index colours = 3;
// Weights as Pillow rounds them, so that the 8-bit results agree: whole numbers of 2^-22.
constexpr int weight_bits = 22;

struct ResampleFilter {
  double reach;  // it is 0 beyond, in pixels of a picture that keeps its size
  double (*weight)(double x);
};

double sinc(double x) {
  return x == 0.0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

ResampleFilter filter_of(Resample resample) {
  switch (resample) {
    case Resample::lanczos:
      return {3.0, [](double x) { return sinc(x) * sinc(x / 3.0); }};
    case Resample::bicubic:  // Keys 1981, a = −0.5
      return {2.0, [](double x) {
                constexpr double a = -0.5;
                const double t = std::abs(x);
                if (t < 1.0) return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
                return t < 2.0 ? (((t - 5.0) * t + 8.0) * t - 4.0) * a : 0.0;
              }};
    case Resample::box:
      return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
    case Resample::hamming:
      return {1.0, [](double x) {
                return std::abs(x) < 1.0 ? sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x)) : 0.0;
              }};
    default:
      return {1.0, [](double x) { return std::max(0.0, 1.0 - std::abs(x)); }};
  }
}

// Which pixels a pixel of the result is made of, along one axis.
struct PixelMix {
  Index first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<PixelMix> mixes(Index from, Index to, const ResampleFilter& filter) {
  const double step = static_cast<double>(from) / static_cast<double>(to), widened = std::max(step, 1.0);
  const double reach = filter.reach * widened;
  std::vector<PixelMix> all(static_cast<std::size_t>(to));
  std::vector<double> weights;
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    PixelMix& mix = all[static_cast<std::size_t>(i)];
    mix.first = std::max<Index>(0, static_cast<Index>(centre - reach + 0.5));
    const Index end = std::min(from, static_cast<Index>(centre + reach + 0.5));
    weights.clear();
    double sum = 0.0;
    for (Index j = mix.first; j < end; ++j) {
      weights.push_back(filter.weight((static_cast<double>(j) - centre + 0.5) / widened));
      sum += weights.back();
    }
    for (const double weight : weights)
      mix.weights.push_back(static_cast<std::int32_t>(std::lround(std::ldexp(weight / sum, weight_bits))));
  }
  return all;
}

RgbPicture blank(Index width, Index height) {
  const Index bytes = checked_multiply(checked_multiply(width, height, "the picture"), colours, "the picture");
  require_memory(bytes, "the picture");
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(bytes)), false};
}

// The pixel (x,y) of the result is what `mix` says of the pixels that begin at `from`, `stride` apart.
void mix_pixel(const PixelMix& mix, const std::uint8_t* from, Index stride, std::uint8_t* to) {
  for (Index c = 0; c < colours; ++c) {
    std::int64_t sum = std::int64_t{1} << (weight_bits - 1);
    const std::uint8_t* at = from + mix.first * stride + c;
    for (const std::int32_t weight : mix.weights) {
      sum += std::int64_t{*at} * weight;
      at += stride;
    }
    to[c] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> weight_bits, 0, 255));
  }
}

RgbPicture along_rows(const RgbPicture& picture, Index width, const ResampleFilter& filter) {
  RgbPicture made = blank(width, picture.height);
  const std::vector<PixelMix> all = mixes(picture.width, width, filter);
  for (Index y = 0; y < picture.height; ++y)
    for (Index x = 0; x < width; ++x)
      mix_pixel(all[static_cast<std::size_t>(x)], picture.rgb.data() + y * picture.width * colours, colours,
                made.rgb.data() + (y * width + x) * colours);
  return made;
}

RgbPicture along_columns(const RgbPicture& picture, Index height, const ResampleFilter& filter) {
  RgbPicture made = blank(picture.width, height);
  const std::vector<PixelMix> all = mixes(picture.height, height, filter);
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < picture.width; ++x)
      mix_pixel(all[static_cast<std::size_t>(y)], picture.rgb.data() + x * colours, picture.width * colours,
                made.rgb.data() + (y * picture.width + x) * colours);
  return made;
}

RgbPicture with_nearest(const RgbPicture& picture, Index width, Index height) {
  RgbPicture made = blank(width, height);
  const auto place = [](Index i, Index from, Index to) {
    const double step = static_cast<double>(from) / static_cast<double>(to);
    return std::min(from - 1, static_cast<Index>((static_cast<double>(i) + 0.5) * step));
  };
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x)
      std::copy_n(
          picture.rgb.data() +
              (place(y, picture.height, height) * picture.width + place(x, picture.width, width)) * colours,
          colours, made.rgb.data() + (y * width + x) * colours);
  return made;
}

}  // namespace

RgbPicture resized(const RgbPicture& picture, Index width, Index height, Resample resample) {
  if (resample == Resample::nearest) return with_nearest(picture, width, height);
  const ResampleFilter filter = filter_of(resample);
  const auto in_width = [&](const RgbPicture& from) {
    return from.width == width ? from : along_rows(from, width, filter);
  };
  const auto in_height = [&](const RgbPicture& from) {
    return from.height == height ? from : along_columns(from, height, filter);
  };
  // The height comes first where it shrinks by more than twice as many pixels as the width; found by trying
  // Pillow 13 on many sizes. Values are rounded and clipped between, so the order shows.
  const bool height_first = height < picture.height && 2 * (picture.width - width) < picture.height - height;
  return height_first ? in_width(in_height(picture)) : in_height(in_width(picture));
}

RgbPicture centre_crop(const RgbPicture& picture, Index width, Index height) {
  // Half of the difference, rounded down also below 0.
  const auto offset = [](Index from, Index to) { return (from - to) >> 1; };
  RgbPicture made = blank(width, height);
  const Index top = offset(picture.height, height), left = offset(picture.width, width);
  const Index first = std::max<Index>(0, -left), end = std::min(width, picture.width - left);
  for (Index y = std::max<Index>(0, -top); y < std::min(height, picture.height - top); ++y)
    std::copy_n(picture.rgb.data() + ((y + top) * picture.width + first + left) * colours,
                (end - first) * colours, made.rgb.data() + (y * width + first) * colours);
  return made;
}

}  // namespace headwise
