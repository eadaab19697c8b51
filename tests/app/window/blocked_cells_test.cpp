// Cells that a mask blocks, by the pixels of the window: they stand out from zeros, and say what they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

constexpr Index tokens = 12;

struct CellPixels {
  int x0, y0, x1, y1;  // pixels inside it, half-open
};

// The inside of a cell of a map of tokens × tokens, two pixels from its border.
CellPixels cell_pixels_of(const WindowBench& bench, const std::string& map, Index row, Index col) {
  const UiRect rect = bench.ui->rect(map);
  const auto at = [](float begin, float end, Index i) {
    return static_cast<int>(begin + (end - begin) * static_cast<float>(i) / static_cast<float>(tokens) + 0.5f);
  };
  return {at(rect.min.x, rect.max.x, col) + 2, at(rect.min.y, rect.max.y, row) + 2,
          at(rect.min.x, rect.max.x, col + 1) - 1, at(rect.min.y, rect.max.y, row + 1) - 1};
}

Rgba8 color_at_pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                           static_cast<std::size_t>(x))];
  return {p[0], p[1], p[2], 255};
}

Rgba8 cell_ground(const Image& image, const CellPixels& cell) {
  return color_at_pixel(image, cell.x0, cell.y0);
}

// Width and height of what stands out in a cell from its ground.
std::pair<int, int> mark_size(const Image& image, const CellPixels& cell) {
  const Rgba8 ground = cell_ground(image, cell);
  int left = cell.x1, right = cell.x0 - 1, top = cell.y1, bottom = cell.y0 - 1;
  for (int y = cell.y0; y < cell.y1; ++y) {
    for (int x = cell.x0; x < cell.x1; ++x) {
      if (contrast_ratio(color_at_pixel(image, x, y), ground) < 1.5) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
    }
  }
  return {std::max(0, right - left + 1), std::max(0, bottom - top + 1)};
}

// Key of a query's smallest weight that is not blocked.
Index least_key(const WindowBench& bench, Index query) {
  const Tensor& weights = *bench.trace().tensors.attn_weights;
  Index least = 0;
  for (Index key = 0; key <= query; ++key)
    if (weights.at({0, bench.selection().head, query, key}) <
        weights.at({0, bench.selection().head, query, least}))
      least = key;
  return least;
}

}  // namespace

TEST_CASE("a blocked weight stands out from a weight of nearly 0, with a cross, in every theme") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->key("C");
  bench.selection().step = Step::softmax;
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    CAPTURE(theme_names[static_cast<std::size_t>(theme)]);
    bench.state().view.settings.theme = theme;
    bench.ui->run_until_still().run_frames(2);
    const Image image = bench.ui->pixels();
    const CellPixels blocked = cell_pixels_of(bench, "stage/result", 2, 9);
    const CellPixels open = cell_pixels_of(bench, "stage/result", 11, least_key(bench, 11));
    CHECK(cell_ground(image, blocked) == blocked_color(theme));
    CHECK(contrast_ratio(cell_ground(image, blocked), cell_ground(image, open)) >= 3.0);
    const auto [width, height] = mark_size(image, blocked);
    CHECK(width > 3);
    CHECK(std::abs(width - height) <= 1);
    const Rgba8 middle = color_at_pixel(image, (blocked.x0 + blocked.x1) / 2, (blocked.y0 + blocked.y1) / 2);
    CHECK(contrast_ratio(middle, cell_ground(image, blocked)) >= 3.0);
  }
}

TEST_CASE("a blocked score and the mask itself say −∞, and what is not blocked says 0, in every theme") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->key("C");
  bench.selection().step = Step::mask;
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    CAPTURE(theme_names[static_cast<std::size_t>(theme)]);
    bench.state().view.settings.theme = theme;
    bench.ui->run_until_still().run_frames(2);
    bench.ui->check_shown({"digits/mask_bias", "digits/masked_scores"});
    const Image image = bench.ui->pixels();
    for (const char* map : {"stage/result", "stage/above"}) {
      CAPTURE(map);
      const CellPixels blocked = cell_pixels_of(bench, map, 2, 9);
      CHECK(cell_ground(image, blocked) == blocked_color(theme));
      const auto [width, height] = mark_size(image, blocked);
      CHECK(width > height);  // wider than high, as a cross is not
    }
    const CellPixels zero = cell_pixels_of(bench, "stage/above", 9, 2),
                     blocked = cell_pixels_of(bench, "stage/above", 2, 9);
    CHECK(contrast_ratio(cell_ground(image, zero), cell_ground(image, blocked)) >= 3.0);
    const auto [width, height] = mark_size(image, zero);
    CHECK(height > width);  // a digit
  }
}

TEST_CASE("the masks as booleans have their letters on the same grey") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->key("C");
  Selection& selection = bench.selection();
  selection.step = Step::mask;
  selection.mask_convention = MaskConvention::true_blocks;
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("digits/mask_bias"));
  const Image image = bench.ui->pixels();
  for (const auto& [row, col] : {std::pair<Index, Index>{2, 9}, {9, 2}}) {
    const auto [width, height] = mark_size(image, cell_pixels_of(bench, "stage/above", row, col));
    CHECK(height > width);  // T and F
  }
}
