#include "app/content/filmstrip_layout.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

// Design units
constexpr double line_units = 17.0, gap_units = 8.0;
constexpr double height_per_width = 0.58;  // of a picture of the stage (app/window/stage_pictures.h)

}  // namespace

FilmstripLayout filmstrip_layout(double width, double scale) {
  FilmstripLayout layout;
  layout.picture_width = std::max(1, static_cast<int>(std::floor(width)));
  layout.picture_height = std::max(1, static_cast<int>(std::round(height_per_width * layout.picture_width)));
  layout.line = std::round(line_units * scale);
  layout.pitch = layout.picture_height + layout.line + std::round(gap_units * scale);
  return layout;
}

std::pair<std::size_t, std::size_t> FilmstripLayout::visible(double scroll, double height,
                                                             std::size_t pages) const {
  const auto within = [pages](double page) {
    return static_cast<std::size_t>(std::clamp(page, 0.0, static_cast<double>(pages)));
  };
  const std::size_t first = within(std::floor(scroll / pitch));
  return {first, std::max(first, within(std::ceil((scroll + height) / pitch)))};
}

std::size_t FilmstripLayout::gap_at(double y, std::size_t pages) const {
  return static_cast<std::size_t>(std::clamp(std::round(y / pitch), 0.0, static_cast<double>(pages)));
}

std::size_t place_of_drop(std::size_t page, std::size_t gap) {
  return gap > page ? gap - 1 : gap;
}

}  // namespace headwise
