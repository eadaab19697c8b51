// The numbers in cells as they are given to ImGui: their ink, the boxes under them,
// and what stands in blocked cells.
#include "app/widgets/heatmap_view.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "tests/app/ui_driver.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int side = 60;  // pixels of a cell: numbers fit

MatrixView matrix(Index rows, Index cols, std::vector<double> values) {
  return matrix_view(std::make_shared<Tensor>(Shape{{"L", rows}, {"S", cols}}, std::move(values)));
}

// The colours of all that draw_cell_digits puts into one cell.
struct Drawn {
  Index row, col;
  Rgba8 color;
};

std::vector<Drawn> drawn_digits(UiDriver& driver, const HeatmapSpec& spec, bool probability) {
  std::vector<Drawn> drawn;
  driver.set_frame([&](const FrameInput&, const Fonts& fonts, float scale) {
    const WidgetContext context{palette_of(spec.theme), fonts, scale};
    ImDrawList* list = ImGui::GetBackgroundDrawList();
    const PlaneGeometry plane = plane_geometry(
        {0, 0, static_cast<double>(side * spec.values.cols), static_cast<double>(side * spec.values.rows)},
        spec.values.rows, spec.values.cols);
    const int before = list->VtxBuffer.Size;
    drawn.clear();
    CHECK(draw_cell_digits(Painter(context, list), plane, spec, probability));
    for (int i = before; i < list->VtxBuffer.Size; ++i) {
      const ImDrawVert& vertex = list->VtxBuffer[i];
      const auto channel = [&](int shift) { return static_cast<std::uint8_t>(vertex.col >> shift & 0xffU); };
      drawn.push_back({static_cast<Index>(vertex.pos.y) / side,
                       static_cast<Index>(vertex.pos.x) / side,
                       {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT),
                        channel(IM_COL32_A_SHIFT)}});
    }
    return FrameResult{};
  });
  driver.run_frames(1);
  return drawn;
}

}  // namespace

TEST_CASE("the digits of a cell can be read on every colour of every map in every theme") {
  OPEN_OR_SKIP(driver, UiDriver::start(1000, 1000));
  std::vector<double> positions(256);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i) / 255.0;
  HeatmapSpec spec;
  spec.values = matrix(16, 16, positions);
  spec.range = {0.0, 1.0};
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    for (const ColorMapEntry& entry : color_map_entries()) {
      CAPTURE(entry.name);
      spec.theme = theme;
      spec.color_map = entry.map;
      const ColorTable& table = color_table(entry.map, theme);
      std::set<std::pair<Index, Index>> cells;
      double least = 21.0;
      for (const Drawn& each : drawn_digits(*driver, spec, true)) {
        REQUIRE(each.color.a == 255);
        const Rgba8 ground = color_at(spec.values.value(each.row, each.col), spec.range, table);
        least = std::min(least, contrast_ratio(each.color, ground));
        cells.insert({each.row, each.col});
      }
      CHECK(cells.size() == 256);
      CHECK(least >= 4.5);
    }
  }
}

TEST_CASE("a blocked score is written on grey, a blocked weight keeps its cross, a hatched value has a box") {
  OPEN_OR_SKIP(driver, UiDriver::start(400, 400));
  HeatmapSpec spec;
  spec.mask = matrix(1, 4, {0.0, -infinity, -infinity, -infinity});
  spec.values = matrix(1, 4, {0.5, -infinity, 0.0, 0.25});
  spec.range = {-1.0, 1.0};
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    spec.theme = theme;
    const Rgba8 blocked = blocked_color(theme);
    const Rgba8 kept = color_at(0.25, spec.range, color_table(spec.color_map, theme));
    const std::vector<Drawn> drawn = drawn_digits(*driver, spec, false);
    const auto in_cell = [&](Index col, Rgba8 color) {
      return std::ranges::count_if(drawn,
                                   [&](const Drawn& each) { return each.col == col && each.color == color; });
    };
    CHECK(in_cell(0, ink_on(color_at(0.5, spec.range, color_table(spec.color_map, theme)))) > 0);
    CHECK(in_cell(1, blocked) == 4);          // the corners of a box over the cross
    CHECK(in_cell(1, ink_on(blocked)) == 8);  // − and ∞
    CHECK(std::ranges::count(drawn, Index{2}, &Drawn::col) == 0);
    CHECK(in_cell(3, kept) == 4);
    CHECK(in_cell(3, ink_on(kept)) > 0);
  }
}
