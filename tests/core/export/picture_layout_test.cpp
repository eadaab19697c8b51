#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/export/picture.h"
#include "core/tensor/error.h"
#include "tests/core/export/sample_heatmaps.h"

using namespace headwise;

namespace {

// Boxes farther apart than both are long cannot meet: most pairs need no closer look.
bool far_apart(const TextBox& a, const TextBox& b) {
  const auto diagonal = [](const TextBox& box) {
    return std::hypot(box.corners[2].x - box.corners[0].x, box.corners[2].y - box.corners[0].y);
  };
  return std::hypot(a.corners[0].x - b.corners[0].x, a.corners[0].y - b.corners[0].y) >
         diagonal(a) + diagonal(b);
}

// Two turned boxes are apart where a line along a side of one of them parts them.
bool overlap(const TextBox& a, const TextBox& b) {
  if (far_apart(a, b)) return false;
  constexpr double touching = 0.01;
  for (const TextBox* box : {&a, &b}) {
    for (const int side : {0, 1}) {
      const PointF from = box->corners[side], to = box->corners[side + 1];
      const double nx = from.y - to.y, ny = to.x - from.x, length = std::hypot(nx, ny);
      if (length == 0) continue;
      const auto extent = [&](const TextBox& of) {
        std::array<double, 2> range = {1e300, -1e300};
        for (const PointF corner : of.corners) {
          const double at = (corner.x * nx + corner.y * ny) / length;
          range = {std::min(range[0], at), std::max(range[1], at)};
        }
        return range;
      };
      const auto first = extent(a), second = extent(b);
      if (first[1] <= second[0] + touching || second[1] <= first[0] + touching) return false;
    }
  }
  return true;
}

TextBox box_of(const RectF& rect) {
  return {{{rect.x, rect.y},
           {rect.x + rect.width, rect.y},
           {rect.x + rect.width, rect.y + rect.height},
           {rect.x, rect.y + rect.height}}};
}

bool inside(const TextBox& box, const RectF& rect) {
  return std::all_of(std::begin(box.corners), std::end(box.corners), [&](PointF p) {
    return p.x >= rect.x && p.y >= rect.y && p.x <= rect.x + rect.width && p.y <= rect.y + rect.height;
  });
}

// Empty where all is well, else what is not.
std::string fault_of(const Picture& picture) {
  const RectF all{0, 0, picture.width, picture.height};
  std::vector<TextBox> texts, others;
  for (const TextItem& item : picture.texts) texts.push_back(text_box(item));
  for (const PlaneItem& item : picture.planes) others.push_back(box_of(item.rect));
  for (const ColorBarItem& item : picture.bars) others.push_back(box_of(item.rect));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& name = picture.texts[i].text;
    if (!inside(texts[i], all)) return fmt::format("'{}' leaves the picture", name);
    for (std::size_t k = 0; k < i; ++k)
      if (overlap(texts[i], texts[k])) return fmt::format("'{}' lies on '{}'", name, picture.texts[k].text);
    for (const PlaneItem& plane : picture.planes)
      if (overlap(texts[i], box_of(plane.rect)) && !inside(texts[i], plane.rect))
        return fmt::format("'{}' lies half on a plane", name);
    for (const ColorBarItem& bar : picture.bars)
      if (overlap(texts[i], box_of(bar.rect))) return fmt::format("'{}' lies on a colour bar", name);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (!inside(others[i], all)) return "a plane or bar leaves the picture";
    for (std::size_t k = 0; k < i; ++k)
      if (overlap(others[i], others[k])) return "planes or bars overlap";
  }
  return "";
}

bool shows(const Picture& picture, const std::string& text) {
  return std::any_of(picture.texts.begin(), picture.texts.end(),
                     [&](const TextItem& item) { return item.text == text; });
}

struct Size {
  Index rows, cols;
};
constexpr std::array<Size, 9> sizes = {Size{1, 1},  Size{1, 30}, Size{30, 1},  Size{2, 3},   Size{12, 12},
                                       Size{5, 64}, Size{64, 5}, Size{40, 40}, Size{12, 128}};
constexpr std::array<double, 10> cell_sizes = {0.3, 1, 2, 5, 9.7, 12, 17, 28, 40, 90};

}  // namespace

TEST_CASE("no text lies on another and nothing leaves the picture, for any shape, cell size and labels") {
  for (const Size size : sizes) {
    for (const double cell : cell_sizes) {
      for (const bool labelled : {false, true}) {
        HeatmapSpec spec = sample_heatmap(size.rows, size.cols);
        if (size.rows * size.cols > 5) spec = with_every_kind(spec);
        if (labelled) {
          spec.row_labels = sample_tokens(size.rows);
          spec.col_labels = sample_tokens(size.cols);
        }
        CAPTURE(size.rows);
        CAPTURE(size.cols);
        CAPTURE(cell);
        CAPTURE(labelled);
        CHECK(fault_of(heatmap_picture(spec, cell)) == "");
      }
    }
  }
}

TEST_CASE("nothing overlaps in a grid either, of one or many heads, with one range or each its own") {
  for (const std::size_t heads : {1U, 2U, 3U, 5U, 8U, 13U}) {
    for (const double cell : {1.0, 3.0, 12.0, 28.0}) {
      for (const Size size : {Size{1, 6}, Size{12, 12}, Size{6, 1}, Size{5, 20}}) {
        for (const bool own_ranges : {false, true}) {
          std::vector<HeatmapSpec> specs;
          for (std::size_t h = 0; h < heads; ++h) {
            specs.push_back(with_every_kind(sample_heatmap(size.rows, size.cols)));
            specs.back().title = fmt::format("head {}", h);
            if (size.rows == 12) specs.back().row_labels = specs.back().col_labels = sample_tokens(12);
            if (own_ranges)
              specs.back().range = {-1.0 - static_cast<double>(h), 1.0 + static_cast<double>(h)};
          }
          CAPTURE(heads);
          CAPTURE(cell);
          CAPTURE(size.rows);
          CAPTURE(own_ranges);
          const Picture picture = heatmap_grid_picture(specs, "scores[0,:]", cell);
          CHECK(fault_of(picture) == "");
          CHECK(picture.bars.size() == (own_ranges && heads > 1 ? heads : 1));
          CHECK(shows(picture, fmt::format("head {}", heads - 1)));
        }
      }
    }
  }
}

TEST_CASE("a picture takes a label for its colour bar, or leaves the bar out, and keeps its legend") {
  const HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  const Picture labelled = heatmap_picture(spec, 28.0, {.bar_label = "scaled score"});
  CHECK(shows(labelled, "scaled score"));
  CHECK_FALSE(shows(labelled, "fixed"));
  CHECK_FALSE(shows(heatmap_picture(spec, 28.0, {.bar_label = ""}), "fixed"));
  const Picture without = heatmap_picture(spec, 28.0, {.color_bar = false});
  CHECK(without.bars.empty());
  CHECK_FALSE(shows(without, "fixed"));
  CHECK(without.height < labelled.height);
  CHECK(without.planes.size() == labelled.planes.size());  // the samples of the legend

  std::vector<HeatmapSpec> heads(3, spec);
  heads[1].range = {-1.0, 1.0};  // a bar for each
  const Picture grid = heatmap_grid_picture(heads, "all", 28.0, {.bar_label = "score"});
  CHECK(std::ranges::count_if(grid.texts, [](const TextItem& item) { return item.text == "score"; }) == 3);
  CHECK(heatmap_grid_picture(heads, "all", 28.0, {.color_bar = false}).bars.empty());
  heads[1].range = spec.range;  // one for all
  CHECK(shows(heatmap_grid_picture(heads, "all", 28.0, {.bar_label = "score"}), "score"));
  CHECK(heatmap_grid_picture(heads, "all", 28.0, {.color_bar = false}).bars.empty());
}

TEST_CASE("names and labels have the font size that is asked for, and still nothing overlaps") {
  for (const double font_size : {6.0, 14.0, 40.0}) {
    CAPTURE(font_size);
    HeatmapSpec spec = with_every_kind(sample_heatmap(12, 12));
    spec.row_labels = spec.col_labels = sample_tokens(12);
    const PictureOptions options{.font_size = font_size};
    for (const double cell : {5.0, 17.0, 40.0}) {
      CAPTURE(cell);
      const Picture picture = heatmap_picture(spec, cell, options);
      CHECK(fault_of(picture) == "");
      CHECK(fault_of(heatmap_grid_picture({spec, spec, spec}, "three", cell, options)) == "");
      const auto size_of = [&](const std::string& text) {
        const auto found = std::ranges::find(picture.texts, text, &TextItem::text);
        return found == picture.texts.end() ? 0.0 : found->size;
      };
      CHECK(size_of("query") == font_size);
      CHECK(size_of("The") == font_size);
    }
  }
}

TEST_CASE("heatmaps of different shapes share a grid, each with labels of its own") {
  const std::vector<HeatmapSpec> specs = {sample_heatmap(3, 4), sample_heatmap(12, 2), sample_heatmap(1, 1),
                                          sample_heatmap(0, 3)};
  const Picture picture = heatmap_grid_picture(specs, "compare", 20.0);
  CHECK(fault_of(picture) == "");
  CHECK(shows(picture, "11"));
  CHECK(shows(picture, "no cells: 0×3"));
}

TEST_CASE("a picture names its title, its axes, its tokens, its range and what that covers") {
  HeatmapSpec spec = sample_heatmap(2, 2);
  spec.row_labels = {"The", "cat"};
  spec.col_labels = {"sat", "down"};
  const Picture picture = heatmap_picture(spec, 40.0);
  for (const char* text :
       {"scores[0,0] — L×S = 2×2", "query", "key", "The", "cat", "sat", "down", "fixed", "−4", "0", "4"}) {
    CAPTURE(text);
    CHECK(shows(picture, text));
  }
  CHECK(picture.bars.front().range == spec.range);
}

TEST_CASE("each cell has its number in ink that stands out, where cells are large enough") {
  const HeatmapSpec spec = sample_heatmap(3, 3);
  const Picture picture = heatmap_picture(spec, 40.0);
  const auto in_plane = [&](const TextItem& item) {
    return inside(text_box(item), picture.planes.front().rect);
  };
  CHECK(std::count_if(picture.texts.begin(), picture.texts.end(), in_plane) == 9);
  const Picture small = heatmap_picture(spec, 8.0);
  CHECK(std::count_if(small.texts.begin(), small.texts.end(), [&](const TextItem& item) {
          return inside(text_box(item), small.planes.front().rect);
        }) == 0);
}

TEST_CASE(
    "a blocked score is written −∞ over its cross, or as the number that replaces it; a blocked weight is "
    "not") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HeatmapSpec spec = sample_heatmap(2, 2);
  const auto with_blocked = [&](double value) {
    spec.values = matrix_of(2, 2, {0.25, value, 0.5, 0.75});
    spec.mask = matrix_of(2, 2, {0.0, -infinity, 0.0, 0.0});
    return heatmap_picture(spec, 40.0);
  };
  const Picture infinite = with_blocked(-infinity);
  CHECK(shows(infinite, "−∞"));
  REQUIRE(infinite.boxes.size() == 1);
  const RectF &box = infinite.boxes.front().rect, &plane = infinite.planes.front().rect;
  CHECK(box.x >= plane.x + 40);
  CHECK(box.x + box.width <= plane.x + 80);
  CHECK(box.y >= plane.y);
  CHECK(box.y + box.height <= plane.y + 40);
  CHECK(inside(text_box(*std::ranges::find(infinite.texts, "−∞", &TextItem::text)),
               infinite.planes.front().rect));
  const Picture weight = with_blocked(0.0);
  CHECK_FALSE(shows(weight, "−∞"));
  CHECK(weight.boxes.empty());
  spec.blocked_at = -1e9;
  CHECK(shows(with_blocked(-1e9), "−1e9"));
  spec.blocked_at = 0.0;  // a fill that softmax does not ignore: the 0 is a score
  CHECK(with_blocked(0.0).boxes.size() == 1);
}

TEST_CASE("a blocked cell that kept its value has its number on a box of its colour, clear of the hatch") {
  const HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  const Picture picture = heatmap_picture(spec, 40.0);
  const Rgba8 ground = color_at(0.5, spec.range, color_table(spec.color_map, spec.theme));
  CHECK(std::ranges::count(picture.boxes, ground, &BoxItem::color) == 1);
  const Image image = rasterise(picture);
  const RectF& box = std::ranges::find(picture.boxes, ground, &BoxItem::color)->rect;
  CHECK(pixel(image, static_cast<int>(box.x), static_cast<int>(box.y)) == ground);
}

TEST_CASE("a matrix without cells is a picture that says so") {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}}) {
    const Picture picture = heatmap_picture(sample_heatmap(size.rows, size.cols), 28.0);
    CHECK(fault_of(picture) == "");
    CHECK(shows(picture, fmt::format("no cells: {}×{}", size.rows, size.cols)));
  }
  CHECK(fault_of(heatmap_grid_picture({}, "nothing", 28.0)) == "");
}

TEST_CASE("labels and titles of any length leave room for the picture") {
  HeatmapSpec spec = sample_heatmap(3, 3);
  spec.title = spec.row_axis = spec.col_axis = spec.range_note = std::string(100000, 'w');
  spec.row_labels = spec.col_labels = {std::string(100000, 'w'), "", "\u202E\u202E"};
  const Picture picture = heatmap_picture(spec, 28.0);
  CHECK(fault_of(picture) == "");
  CHECK(picture.width < 1500);
  CHECK(picture.height < 1500);
}

TEST_CASE("planes stand on whole pixels") {
  for (const double cell : {0.3, 1.0, 7.3, 28.0}) {
    for (const PlaneItem& plane : heatmap_picture(with_every_kind(sample_heatmap(7, 9)), cell).planes) {
      CHECK(plane.rect.x == std::floor(plane.rect.x));
      CHECK(plane.rect.y == std::floor(plane.rect.y));
      CHECK(plane.rect.width == std::floor(plane.rect.width));
    }
  }
}

TEST_CASE("a cell size that is no size is refused") {
  for (const double cell : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e9}) {
    CHECK_THROWS_AS(heatmap_picture(sample_heatmap(2, 2), cell), Error);
    CHECK_THROWS_AS(heatmap_grid_picture({sample_heatmap(2, 2)}, "", cell), Error);
  }
}
