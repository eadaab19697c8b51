#include "core/picture/image.h"

#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <png.h>

#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {

void check_image_size(double width, double height) {
  if (!(width <= max_image_side && height <= max_image_side)) {
    throw Error(ExitStatus::usage,
                {"picture", "it is too large", fmt::format("{:.0f}×{:.0f} pixels", width, height),
                 fmt::format("at most {} a side", max_image_side), "take fewer pixels a cell, also below 1"});
  }
  require_memory(static_cast<Index>(4.0 * width * height), "the picture");
}

namespace {

void append_bytes(png_structp png, png_bytep data, png_size_t length) {
  auto& out = *static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
  try {
    out.insert(out.end(), data, data + length);
  } catch (const std::bad_alloc&) {
    png_error(png, "out of memory");  // an exception must not pass through C
  }
}

void no_flush(png_structp) {}

bool is_opaque(const Image& image) {
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) {
    if (image.rgba[i] != 255) return false;
  }
  return true;
}

// Without objects that need a destructor, because libpng exits by longjmp. False if it ran out of memory.
bool encode(png_structp png, png_infop info, const Image& image, bool opaque, png_uint_32 per_metre,
            std::vector<std::uint8_t>& out) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &out, append_bytes, no_flush);
  png_set_user_limits(png, max_image_side, max_image_side);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 8,
               opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  if (per_metre > 0) png_set_pHYs(png, info, per_metre, per_metre, PNG_RESOLUTION_METER);
  // Few colours that repeat exactly: filters only hide that from deflate. Level 4 takes half the time of the
  // usual 6 for about the same bytes (noise of 2048² cells, and of 64² cells of 28 pixels with digits).
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_set_compression_level(png, 4);
  png_write_info(png, info);
  if (opaque) png_set_filler(png, 0, PNG_FILLER_AFTER);
  for (int y = 0; y < image.height; ++y) {
    png_write_row(
        png, image.rgba.data() + 4 * static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width));
  }
  png_write_end(png, info);
  return true;
}

std::vector<std::uint8_t> encoded(const Image& image, png_uint_32 per_metre) {
  if (image.width < 1 || image.height < 1) {
    throw Error(ExitStatus::usage, {"picture", "a PNG cannot be empty", "no pixel", "at least one", ""});
  }
  std::vector<std::uint8_t> out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool opaque = is_opaque(image);
  const bool done = info && encode(png, info, image, opaque, per_metre, out);
  png_destroy_write_struct(&png, &info);
  if (!done) throw std::bad_alloc();
  return out;
}

}  // namespace

std::vector<std::uint8_t> to_png(const Image& image) {
  return encoded(image, 0);
}

std::vector<std::uint8_t> to_png(const Image& image, double dpi) {
  constexpr double inch = 0.0254;  // metres
  return encoded(image, static_cast<png_uint_32>(std::lround(dpi / inch)));
}

}  // namespace headwise
