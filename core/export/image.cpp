#include "core/export/image.h"

#include <fmt/format.h>
#include <png.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {

void check_image_size(double width, double height) {
  if (!(width <= max_image_side && height <= max_image_side))
    throw Error(ExitStatus::usage,
                {"picture", "it is too large", fmt::format("{:.0f}×{:.0f} pixels", width, height),
                 fmt::format("at most {} a side", max_image_side), "take fewer pixels a cell, also below 1"});
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
  for (std::size_t i = 3; i < image.rgba.size(); i += 4)
    if (image.rgba[i] != 255) return false;
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
  for (int y = 0; y < image.height; ++y)
    png_write_row(
        png, image.rgba.data() + 4 * static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width));
  png_write_end(png, info);
  return true;
}

std::vector<std::uint8_t> encoded(const Image& image, png_uint_32 per_metre) {
  if (image.width < 1 || image.height < 1)
    throw Error(ExitStatus::usage, {"picture", "a PNG cannot be empty", "no pixel", "at least one", ""});
  std::vector<std::uint8_t> out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool opaque = is_opaque(image);
  const bool done = info && encode(png, info, image, opaque, per_metre, out);
  png_destroy_write_struct(&png, &info);
  if (!done) throw std::bad_alloc();
  return out;
}

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t signature_bytes = 8;
constexpr int longest_delay = 65535;  // the format stores it in 16 bits

std::uint32_t number_at(const Bytes& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8U | bytes[at + i];
  return value;
}

void put_32(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

void put_16(Bytes& bytes, int value) {
  bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  bytes.push_back(static_cast<std::uint8_t>(value));
}

void put_chunk(Bytes& file, std::string_view type, std::span<const std::uint8_t> data) {
  put_32(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = file.size();
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), data.begin(), data.end());
  put_32(file, static_cast<std::uint32_t>(crc32_z(0, file.data() + begin, file.size() - begin)));
}

struct Parts {
  Bytes header, data;
};

// A decomposed PNG: everything before the first IDAT, and the contents of the IDATs.
Parts parts_of(const Bytes& png) {
  Parts parts;
  std::size_t at = signature_bytes;
  bool before = true;
  while (at + 12 <= png.size()) {
    const std::size_t length = number_at(png, at);
    const bool is_data = std::memcmp(png.data() + at + 4, "IDAT", 4) == 0;
    const auto begin = png.begin() + static_cast<std::ptrdiff_t>(at + 8);
    if (is_data) {
      if (before) parts.header.assign(png.begin(), begin - 8);
      before = false;
      parts.data.insert(parts.data.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
    }
    at += length + 12;
  }
  return parts;
}

struct Box {
  int x = 0, y = 0, width = 0, height = 0;
};

// The smallest box that contains every differing pixel; 0 × 0 if none differs.
Box difference(const Image& a, const Image& b) {
  int left = a.width, right = -1, top = a.height, bottom = -1;
  const std::size_t row_bytes = 4 * static_cast<std::size_t>(a.width);
  for (int y = 0; y < a.height; ++y) {
    const std::uint8_t* one = a.rgba.data() + static_cast<std::size_t>(y) * row_bytes;
    const std::uint8_t* other = b.rgba.data() + static_cast<std::size_t>(y) * row_bytes;
    if (std::memcmp(one, other, row_bytes) == 0) continue;
    top = std::min(top, y);
    bottom = y;
    const auto differs = [&](int x) { return std::memcmp(one + 4 * x, other + 4 * x, 4) != 0; };
    int first = 0, last = a.width - 1;
    while (first < left && !differs(first)) ++first;
    while (last > right && !differs(last)) --last;
    left = std::min(left, first);
    right = std::max(right, last);
  }
  if (bottom < 0) return {};
  return {left, top, right - left + 1, bottom - top + 1};
}

Image part_of(const Image& image, const Box& box) {
  Image part{box.width, box.height, {}};
  part.rgba.reserve(4 * static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height));
  for (int y = box.y; y < box.y + box.height; ++y) {
    const auto begin = image.rgba.begin() + 4 * (static_cast<std::ptrdiff_t>(y) * image.width + box.x);
    part.rgba.insert(part.rgba.end(), begin, begin + 4 * static_cast<std::ptrdiff_t>(box.width));
  }
  return part;
}

}  // namespace

std::vector<std::uint8_t> to_png(const Image& image) {
  return encoded(image, 0);
}

std::vector<std::uint8_t> to_png(const Image& image, double dpi) {
  constexpr double inch = 0.0254;  // metres
  return encoded(image, static_cast<png_uint_32>(std::lround(dpi / inch)));
}

void AnimatedPng::add(const Image& picture, int milliseconds) {
  Box box{0, 0, picture.width, picture.height};
  if (!frames_.empty()) {
    if (picture.width != last_.width || picture.height != last_.height)
      throw Error(ExitStatus::usage, {.where = "animation",
                                      .what = "the pictures differ in size",
                                      .got = fmt::format("{} × {}", picture.width, picture.height),
                                      .expected = fmt::format("{} × {}", last_.width, last_.height)});
    box = difference(last_, picture);
    if (box.width == 0) {
      frames_.back().milliseconds += milliseconds;
      return;
    }
  }
  Image opaque = part_of(picture, box);
  for (std::size_t i = 3; i < opaque.rgba.size(); i += 4)
    opaque.rgba[i] = 255;  // every frame with the same pixel format
  Parts parts = parts_of(to_png(opaque));
  if (frames_.empty()) header_ = std::move(parts.header);
  frames_.push_back({box.x, box.y, box.width, box.height, milliseconds, std::move(parts.data)});
  last_ = picture;
}

std::vector<std::uint8_t> AnimatedPng::finish() const {
  if (frames_.empty())
    throw Error(ExitStatus::usage, {.where = "animation", .what = "an animation needs a picture"});
  Bytes file = header_;
  Bytes control;
  put_32(control, static_cast<std::uint32_t>(frames_.size()));
  put_32(control, static_cast<std::uint32_t>(repeats_));
  put_chunk(file, "acTL", control);
  std::uint32_t sequence = 0;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    Bytes place;
    put_32(place, sequence++);
    for (const int value : {frame.width, frame.height, frame.x, frame.y})
      put_32(place, static_cast<std::uint32_t>(value));
    put_16(place, std::min(frame.milliseconds, longest_delay));
    put_16(place, 1000);
    place.insert(place.end(), {0, 0});  // it stays in place, and replaces what was there
    put_chunk(file, "fcTL", place);
    if (i == 0) {
      put_chunk(file, "IDAT", frame.data);
      continue;
    }
    Bytes data;
    put_32(data, sequence++);
    data.insert(data.end(), frame.data.begin(), frame.data.end());
    put_chunk(file, "fdAT", data);
  }
  put_chunk(file, "IEND", {});
  return file;
}

}  // namespace headwise
