#include "app/content/filmstrip_layout.h"

#include <doctest/doctest.h>

using namespace headwise;

TEST_CASE("thumbnails have the proportions of a slide, whatever the width of the strip") {
  for (const double width : {60.0, 140.0, 281.5}) {
    const FilmstripLayout layout = filmstrip_layout(width, width / 140.0);
    CHECK(layout.picture_width <= width);
    CHECK(layout.picture_height / static_cast<double>(layout.picture_width) ==
          doctest::Approx(0.58).epsilon(0.02));
    CHECK(layout.pitch > layout.picture_height + layout.line);
  }
}

TEST_CASE("only the pages in view are visible, and never one that does not exist") {
  const FilmstripLayout layout = filmstrip_layout(140, 1.0);
  CHECK(layout.visible(0.0, 2.5 * layout.pitch, 10) == std::pair<std::size_t, std::size_t>{0, 3});
  CHECK(layout.visible(3.5 * layout.pitch, layout.pitch, 10) == std::pair<std::size_t, std::size_t>{3, 5});
  CHECK(layout.visible(8.0 * layout.pitch, 5.0 * layout.pitch, 10) ==
        std::pair<std::size_t, std::size_t>{8, 10});
  CHECK(layout.visible(50.0 * layout.pitch, layout.pitch, 10) == std::pair<std::size_t, std::size_t>{10, 10});
}

TEST_CASE("a page lands in the gap nearest to the mouse, and keeps its place beside itself") {
  const FilmstripLayout layout = filmstrip_layout(140, 1.0);
  CHECK(layout.gap_at(-30.0, 4) == 0);
  CHECK(layout.gap_at(0.6 * layout.pitch, 4) == 1);
  CHECK(layout.gap_at(1.4 * layout.pitch, 4) == 1);
  CHECK(layout.gap_at(99.0 * layout.pitch, 4) == 4);
  CHECK(place_of_drop(2, 2) == 2);
  CHECK(place_of_drop(2, 3) == 2);
  CHECK(place_of_drop(2, 0) == 0);
  CHECK(place_of_drop(0, 4) == 3);
}
