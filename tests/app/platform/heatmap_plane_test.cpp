// The plane in the window against the plane in a file: the same rule, pixel for pixel.
#include "app/widgets/heatmap_view.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/export/picture.h"
#include "core/tensor/random.h"
#include "tests/app/ui_driver.h"

using namespace headwise;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Values around 0 of the given magnitude, the same for a seed.
TensorPtr random_tensor(Index rows, Index cols, double magnitude, std::uint64_t seed, DType dtype = DType::f32) {
  Tensor tensor(Shape({{"L", rows}, {"S", cols}}), dtype);
  const CounterRandom random(seed, "values");
  for (Index i = 0; i < tensor.size(); ++i)
    tensor.set_flat(i, magnitude * (2.0 * random.uniform(static_cast<std::uint64_t>(i)) - 1.0));
  return std::make_shared<const Tensor>(std::move(tensor));
}

HeatmapSpec spec_of(TensorPtr tensor, ColorMap map = ColorMap::blue_orange, Theme theme = Theme::dark) {
  HeatmapSpec spec;
  spec.values = matrix_view(std::move(tensor));
  spec.color_map = map;
  spec.theme = theme;
  const bool diverging = color_map_entry(map).diverging;
  spec.range = range_of(std::span(&spec.values, 1), diverging, false);
  return spec;
}

// Draws the plane at (x, y) over black; pixels that the rule leaves clear stay black.
Image drawn(UiDriver& driver, HeatmapRenderer& renderer, const HeatmapSpec& spec, PixelRect at) {
  driver.set_frame([&](const FrameInput&, const Fonts&, float) {
    draw_heatmap_plane(ImGui::GetBackgroundDrawList(), renderer, spec,
                       ImVec2(static_cast<float>(at.x0), static_cast<float>(at.y0)),
                       ImVec2(static_cast<float>(at.x1), static_cast<float>(at.y1)));
    return FrameResult{};
  });
  driver.run_frames(1);
  return driver.pixels();
}

// Largest difference of a channel over the part of the plane that lies on the screen; says where.
int worst_difference(const Image& screen, const Image& file, PixelRect at, std::string& where) {
  int worst = 0;
  for (int y = std::max(0, at.y0); y < std::min(screen.height, at.y1); ++y)
    for (int x = std::max(0, at.x0); x < std::min(screen.width, at.x1); ++x) {
      const auto* a = &screen.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(screen.width) +
                                        static_cast<std::size_t>(x))];
      const auto* b =
          &file.rgba[4 * (static_cast<std::size_t>(y - at.y0) * static_cast<std::size_t>(file.width) +
                          static_cast<std::size_t>(x - at.x0))];
      for (int channel = 0; channel < 3; ++channel)
        if (const int difference = std::abs(a[channel] - b[channel]); difference > worst) {
          worst = difference;
          where = fmt::format("pixel ({}, {}): screen {} {} {}, file {} {} {}", x - at.x0, y - at.y0, a[0],
                              a[1], a[2], b[0], b[1], b[2]);
        }
    }
  return worst;
}

void check_same(UiDriver& driver, HeatmapRenderer& renderer, const HeatmapSpec& spec, PixelRect at) {
  CAPTURE(spec.values.rows);
  CAPTURE(spec.values.cols);
  CAPTURE(at.width());
  CAPTURE(at.height());
  std::string where;
  const Image file = rasterise_plane(spec, at.width(), at.height());
  const int worst = worst_difference(drawn(driver, renderer, spec, at), file, at, where);
  CHECK_MESSAGE(worst <= 1, where);
}

struct Size {
  Index rows, cols;
  int width, height;
};

}  // namespace

TEST_CASE("the plane on the screen is the plane in a file, at every size, map and theme") {
  OPEN_OR_SKIP(driver, UiDriver::start(700, 500));
  HeatmapRenderer renderer;
  const Size sizes[] = {{12, 12, 288, 288}, {12, 16, 300, 301}, {1, 1, 40, 30},   {1, 7, 350, 9},
                        {13, 1, 11, 400},   {12, 12, 60, 60},   {12, 12, 13, 17}, {31, 33, 31, 33},
                        {31, 33, 30, 20},   {100, 9, 200, 37},  {64, 64, 64, 64}, {257, 65, 64, 500},
                        {300, 500, 7, 11},  {5, 1000, 1, 1},    {3, 3, 400, 401}, {2, 2, 641, 499}};
  std::uint64_t seed = 1;
  for (const Size& size : sizes)
    for (const ColorMapEntry& entry : color_map_entries())
      for (const Theme theme : {Theme::light, Theme::dark}) {
        const HeatmapSpec spec = spec_of(random_tensor(size.rows, size.cols, 3.0, ++seed), entry.map, theme);
        check_same(*driver, renderer, spec, {20, 1, 20 + size.width, 1 + size.height});
      }
}

TEST_CASE("NaN, infinities and cells that a mask blocks are marked on the screen as in a file") {
  OPEN_OR_SKIP(driver, UiDriver::start(500, 500));
  HeatmapRenderer renderer;
  Tensor values = *random_tensor(9, 11, 2.0, 7), mask(values.shape(), DType::f32);
  for (Index i = 0; i < values.size(); ++i) {
    if (i % 7 == 1) values.set_flat(i, not_a_number);
    if (i % 7 == 2) values.set_flat(i, inf);
    if (i % 7 == 3) values.set_flat(i, -inf);
    if (i % 7 == 4) values.set_flat(i, 0.0);
    if (i % 3 == 1) mask.set_flat(i, -inf);
  }
  HeatmapSpec spec = spec_of(std::make_shared<const Tensor>(std::move(values)));
  spec.mask = matrix_view(std::make_shared<const Tensor>(std::move(mask)));
  for (const ColorMapEntry& entry : color_map_entries())
    for (const Theme theme : {Theme::light, Theme::dark})
      for (const auto& [width, height] :
           {std::pair(440, 360), {441, 367}, {55, 45}, {33, 27}, {11, 9}, {5, 4}, {1, 1}}) {
        spec.color_map = entry.map;
        spec.theme = theme;
        spec.range = range_of(std::span(&spec.values, 1), entry.diverging, false);
        check_same(*driver, renderer, spec, {3, 2, 3 + width, 2 + height});
        HeatmapSpec turned = spec;
        turned.values = spec.values.transposed();
        turned.mask = spec.mask->transposed();
        check_same(*driver, renderer, turned, {3, 2, 3 + width, 2 + height});
      }
}

TEST_CASE("a fixed range clamps on the screen as in a file, whatever its width and magnitude") {
  OPEN_OR_SKIP(driver, UiDriver::start(300, 300));
  HeatmapRenderer renderer;
  const PixelRect at = {0, 0, 240, 240};
  for (const double magnitude : {1.0, 1e-30, 1e-300, 1e30, 1e300, 1.7e308}) {
    CAPTURE(magnitude);
    HeatmapSpec spec = spec_of(random_tensor(12, 12, magnitude, 3, DType::f64));
    check_same(*driver, renderer, spec, at);
    for (const double width : {0.0, 0.01, 0.5, 1.0}) {
      spec.range = {-width * magnitude, width * magnitude};
      check_same(*driver, renderer, spec, at);
    }
    spec.color_map = ColorMap::viridis;
    for (const double lo : {-1.0, -0.1, 0.25, 1.0}) {
      spec.range = {lo * magnitude, magnitude};
      check_same(*driver, renderer, spec, at);
    }
    spec.range = {2.0, 2.0};
    check_same(*driver, renderer, spec, at);
  }
}

TEST_CASE("which cells show where they are smaller than a pixel does not depend on the range") {
  OPEN_OR_SKIP(driver, UiDriver::start(100, 100));
  HeatmapRenderer renderer;
  HeatmapSpec spec = spec_of(random_tensor(100, 120, 1.0, 4));
  const PixelRect at = {0, 0, 33, 21};
  check_same(*driver, renderer, spec, at);
  spec.range = {-0.2, 0.2};
  check_same(*driver, renderer, spec, at);
  CHECK(renderer.cache().uploads() == 1);
  spec.color_map = ColorMap::viridis;
  for (const ValueRange range : {ValueRange{-1.0, 1.0}, {-0.2, 0.2}, {0.9, 0.95}}) {
    spec.range = range;
    check_same(*driver, renderer, spec, at);
  }
  CHECK(renderer.cache().uploads() == 2);
}

TEST_CASE("values far from 0 that hardly differ keep their colours") {
  OPEN_OR_SKIP(driver, UiDriver::start(300, 300));
  HeatmapRenderer renderer;
  Tensor tensor = *random_tensor(12, 12, 1e-6, 5, DType::f64);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, 1e6 + tensor.flat(i));
  check_same(*driver, renderer, spec_of(std::make_shared<const Tensor>(std::move(tensor)), ColorMap::cividis),
             {0, 0, 240, 240});
}

TEST_CASE("masks and integers are drawn too") {
  OPEN_OR_SKIP(driver, UiDriver::start(100, 100));
  HeatmapRenderer renderer;
  for (const DType dtype : {DType::boolean, DType::i64}) {
    Tensor tensor(Shape({{"L", 4}, {"S", 4}}), dtype);
    for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, static_cast<double>(i % 2));
    check_same(*driver, renderer,
               spec_of(std::make_shared<const Tensor>(std::move(tensor)), ColorMap::viridis), {0, 0, 64, 64});
  }
}

TEST_CASE("a plane larger than the screen, and larger than a texture, shows the part that is seen") {
  OPEN_OR_SKIP(driver, UiDriver::start(200, 160));
  HeatmapRenderer renderer;
  for (const auto& [rows, cols, side] :
       {std::tuple(Index{1100}, Index{1050}, 1), {1500, 40, 12}, {60, 1100, 3}}) {
    const HeatmapSpec spec = spec_of(random_tensor(rows, cols, 1.0, 11));
    const int width = static_cast<int>(cols) * side, height = static_cast<int>(rows) * side;
    const Image file = rasterise_plane(spec, width, height);
    for (const auto& [x, y] :
         {std::pair(0, 0), {-3, -7}, {150 - width, 100 - height}, {-1024 * side + 31, -1024 * side + 77}}) {
      CAPTURE(x);
      CAPTURE(y);
      const PixelRect at = {x, y, x + width, y + height};
      std::string where;
      const int worst = worst_difference(drawn(*driver, renderer, spec, at), file, at, where);
      CHECK_MESSAGE(worst <= 1, where);
    }
  }
  // One texel a pixel: nothing near as large as the map is uploaded.
  HeatmapRenderer small;
  check_same(*driver, small, spec_of(random_tensor(1100, 700, 1.0, 11)), {10, 10, 190, 150});
  CHECK(small.cache().bytes() == std::size_t{180 * 140} * 8);
}

TEST_CASE("a change of range, colour map or theme uploads nothing") {
  OPEN_OR_SKIP(driver, UiDriver::start(300, 300));
  HeatmapRenderer renderer;
  HeatmapSpec spec = spec_of(random_tensor(12, 12, 1.0, 2));
  drawn(*driver, renderer, spec, {0, 0, 240, 240});
  CHECK(renderer.cache().uploads() == 1);
  spec.range = {-0.1, 0.1};
  spec.color_map = ColorMap::viridis;
  spec.theme = Theme::light;
  drawn(*driver, renderer, spec, {0, 0, 240, 240});
  drawn(*driver, renderer, spec, {7, 3, 300, 300});
  CHECK(renderer.cache().uploads() == 1);
}

TEST_CASE("the texture of a tensor that is gone is let go and never shown for another one at its address") {
  OPEN_OR_SKIP(driver, UiDriver::start(300, 300));
  HeatmapRenderer renderer;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    check_same(*driver, renderer, spec_of(random_tensor(12, 12, 1.0, seed)), {0, 0, 240, 240});
  CHECK(renderer.cache().uploads() == 20);
  CHECK(renderer.cache().textures() <= 2);
}

TEST_CASE("many planes in one call, of all kinds, look like as many calls") {
  OPEN_OR_SKIP(driver, UiDriver::start(640, 480));
  HeatmapRenderer renderer;
  std::vector<HeatmapSpec> specs;
  for (std::uint64_t i = 0; i < 24; ++i) {
    Tensor tensor = *random_tensor(12, 12, 1.0, i);
    if (i % 5 > 2) tensor.set_flat(17, not_a_number);
    specs.push_back(spec_of(std::make_shared<const Tensor>(std::move(tensor)),
                            color_map_entries()[i / 2 % 3].map, i < 12 ? Theme::light : Theme::dark));
  }
  const auto place = [](std::size_t i) {
    const int x = 10 + 70 * static_cast<int>(i % 8), y = 10 + 70 * static_cast<int>(i / 8);
    return PixelRect{x, y, x + 60, y + 60};
  };
  driver->set_frame([&](const FrameInput&, const Fonts&, float) {
    std::vector<HeatmapPlane> planes;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const PixelRect at = place(i);
      planes.push_back({&specs[i], ImVec2(static_cast<float>(at.x0), static_cast<float>(at.y0)),
                        ImVec2(static_cast<float>(at.x1), static_cast<float>(at.y1))});
    }
    ImDrawList* list = ImGui::GetBackgroundDrawList();
    list->AddRectFilled(ImVec2(0, 0), ImVec2(640, 480), IM_COL32(0, 0, 0, 255));
    draw_heatmap_planes(list, renderer, planes);
    list->AddRectFilled(ImVec2(600, 400), ImVec2(640, 480), IM_COL32(10, 20, 30, 255));
    return FrameResult{};
  });
  driver->run_frames(1);
  const Image screen = driver->pixels();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::string where;
    const int worst = worst_difference(screen, rasterise_plane(specs[i], 60, 60), place(i), where);
    CHECK_MESSAGE(worst <= 1, where);
  }
  CHECK(driver->pixel(620, 440) == Rgba8{10, 20, 30, 255});
}

TEST_CASE("a plane without cells, without pixels or at no place draws nothing") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  HeatmapRenderer renderer;
  HeatmapSpec spec = spec_of(random_tensor(4, 4, 1.0, 1));
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  driver->set_frame([&](const FrameInput&, const Fonts&, float) {
    ImDrawList* list = ImGui::GetBackgroundDrawList();
    draw_heatmap_plane(list, renderer, spec, ImVec2(10, 10), ImVec2(10, 50));
    draw_heatmap_plane(list, renderer, spec, ImVec2(50, 50), ImVec2(10, 10));
    draw_heatmap_plane(list, renderer, spec, ImVec2(quiet, 10), ImVec2(40, 40));
    draw_heatmap_plane(list, renderer, spec, ImVec2(10, 10), ImVec2(quiet, quiet));
    draw_heatmap_plane(list, renderer, spec, ImVec2(900, 900), ImVec2(990, 990));
    HeatmapSpec empty = spec;
    empty.values.rows = 0;
    draw_heatmap_plane(list, renderer, empty, ImVec2(10, 10), ImVec2(40, 40));
    draw_heatmap_plane(list, renderer, HeatmapSpec{}, ImVec2(10, 10), ImVec2(40, 40));
    return FrameResult{};
  });
  driver->run_frames(2);
  CHECK(renderer.cache().uploads() == 0);
  for (const std::uint8_t channel : driver->pixels().rgba) REQUIRE((channel == 0 || channel == 255));
  // A plane of a hundred million pixels is still only what is seen of it.
  check_same(*driver, renderer, spec, {0, 0, 60, 60});
  driver->set_frame([&](const FrameInput&, const Fonts&, float) {
    draw_heatmap_plane(ImGui::GetBackgroundDrawList(), renderer, spec, ImVec2(-1e9f, -1e9f),
                       ImVec2(1e9f, 1e9f));
    return FrameResult{};
  });
  driver->run_frames(1);
  CHECK(driver->pixel(1, 1).a == 255);
}

TEST_CASE("a dialog may end in a heatmap") {
  OPEN_OR_SKIP(driver, UiDriver::start(300, 200));
  HeatmapRenderer renderer;
  const HeatmapSpec spec = spec_of(random_tensor(4, 4, 1.0, 1));
  driver->set_frame([&](const FrameInput&, const Fonts&, float) {
    if (ImGui::GetFrameCount() < 3) ImGui::OpenPopup("dialog");
    ImGui::SetNextWindowSize({200, 150});
    if (ImGui::BeginPopupModal("dialog", nullptr,
                               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings)) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      draw_heatmap_plane(ImGui::GetWindowDrawList(), renderer, spec, at, {at.x + 90, at.y + 90});
      ImGui::EndPopup();
    }
    return FrameResult{};
  });
  driver->run_frames(8);
  CHECK(driver->gl_messages().empty());
  CHECK(renderer.cache().uploads() == 1);
}
