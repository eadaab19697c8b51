#include <algorithm>
#include <cmath>

#include "core/picture/picture.h"

namespace headwise {
namespace {

std::uint8_t* pixel_at(Image& image, int x, int y) {
  return &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                          static_cast<std::size_t>(x))];
}

void put(Image& image, int x, int y, Rgba8 color) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  std::uint8_t* pixel = pixel_at(image, x, y);
  pixel[0] = color.r;
  pixel[1] = color.g;
  pixel[2] = color.b;
  pixel[3] = color.a;
}

int whole(double v) {
  return static_cast<int>(std::lround(v));
}

void draw(Image& image, const PlaneItem& item) {
  const Image plane = rasterise_plane(item.spec, whole(item.rect.width), whole(item.rect.height));
  const int left = whole(item.rect.x), top = whole(item.rect.y);
  const std::uint8_t* from = plane.rgba.data();
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x, from += 4) {
      if (from[3] != 0) put(image, left + x, top + y, {from[0], from[1], from[2], from[3]});
    }
  }
}

void draw(Image& image, const ColorBarItem& item) {
  const ColorTable& table = color_table(item.color_map, item.theme);
  const int left = whole(item.rect.x), top = whole(item.rect.y), width = whole(item.rect.width);
  for (int x = 0; x < width; ++x) {
    const double share = width > 1 ? static_cast<double>(x) / (width - 1) : 0.5;
    const Rgba8 color = color_at(item.range.lo * (1 - share) + item.range.hi * share, item.range, table);
    for (int y = 0; y < whole(item.rect.height); ++y) put(image, left + x, top + y, color);
  }
}

void draw(Image& image, const BoxItem& item) {
  const int right = whole(item.rect.x + item.rect.width), bottom = whole(item.rect.y + item.rect.height);
  for (int y = whole(item.rect.y); y < bottom; ++y)
    for (int x = whole(item.rect.x); x < right; ++x) put(image, x, y, item.color);
}

// Each pixel is covered by the fraction of its width that is within half the line width of the line.
void draw(Image& image, const LineItem& item) {
  const double reach = item.width / 2 + 1;
  const double dx = item.to.x - item.from.x, dy = item.to.y - item.from.y, length = std::hypot(dx, dy);
  const int x_end = whole(std::min<double>(image.width, std::ceil(std::max(item.from.x, item.to.x) + reach)));
  const int y_end = whole(std::min<double>(image.height, std::ceil(std::max(item.from.y, item.to.y) + reach)));
  const int x_begin = whole(std::max(0.0, std::floor(std::min(item.from.x, item.to.x) - reach)));
  const int y_begin = whole(std::max(0.0, std::floor(std::min(item.from.y, item.to.y) - reach)));
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = x_begin; x < x_end; ++x) {
      const double px = x + 0.5 - item.from.x, py = y + 0.5 - item.from.y;
      const double along = length > 0 ? (px * dx + py * dy) / length : 0.0;
      const double beside = length > 0 ? std::abs(px * dy - py * dx) / length : std::hypot(px, py);
      const double past_end = std::max(-along, along - length);
      const double coverage =
          std::clamp(item.width / 2 + 0.5 - beside, 0.0, 1.0) * std::clamp(0.5 - past_end, 0.0, 1.0);
      if (coverage <= 0) continue;
      std::uint8_t* pixel = pixel_at(image, x, y);
      const std::uint8_t ink[] = {item.color.r, item.color.g, item.color.b};
      for (int c = 0; c < 3; ++c) {
        pixel[c] = static_cast<std::uint8_t>(
            std::lround(pixel[c] + coverage * (static_cast<double>(ink[c]) - pixel[c])));
      }
    }
  }
}

}  // namespace

Image rasterise(const Picture& picture) {
  check_image_size(std::ceil(picture.width), std::ceil(picture.height));
  Image image;
  image.width = std::max(1, whole(std::ceil(picture.width)));
  image.height = std::max(1, whole(std::ceil(picture.height)));
  image.rgba.resize(4 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) put(image, x, y, picture.ground);
  }
  for (const PlaneItem& item : picture.planes) draw(image, item);
  for (const ColorBarItem& item : picture.bars) draw(image, item);
  for (const BoxItem& item : picture.boxes) draw(image, item);
  for (const LineItem& item : picture.lines) draw(image, item);
  for (const TextItem& item : picture.texts) draw_text(image, item);
  return image;
}

}  // namespace headwise
