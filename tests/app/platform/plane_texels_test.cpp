#include "app/platform/texel_cache.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/tensor/random.h"

using namespace headwise;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

HeatmapSpec plane_spec_of(Index rows, Index cols, const std::vector<double>& values) {
  HeatmapSpec spec;
  spec.values = matrix_view(std::make_shared<const Tensor>(Shape({{"L", rows}, {"S", cols}}), values));
  return spec;
}

TexelGrid whole(int rows, int cols) {
  return {rows, cols, 0, 0, rows, cols};
}

double value_at(const PlaneTexels& texels, std::size_t i) {
  return std::ldexp(static_cast<double>(texels.texels[2 * i]), texels.exponent) + texels.offset;
}
CellKind kind_at(const PlaneTexels& texels, std::size_t i) {
  return static_cast<CellKind>(static_cast<int>(texels.texels[2 * i + 1]));
}

}  // namespace

TEST_CASE("a spike, an infinity and a NaN outlive any reduction, in this order") {
  std::vector<double> values(10000, 0.25);
  values[4321] = -9.0;
  HeatmapSpec spec = plane_spec_of(100, 100, values);
  CHECK(value_at(plane_texels(spec, whole(1, 1)), 0) == -9.0);
  // A sequential map tells large from small, not far from near 0.
  spec.color_map = ColorMap::viridis;
  CHECK(value_at(plane_texels(spec, whole(1, 1)), 0) == 0.25);
  values[77] = -infinite;
  CHECK(kind_at(plane_texels(plane_spec_of(100, 100, values), whole(1, 1)), 0) == CellKind::minus_inf);
  values[78] = std::nan("");
  CHECK(kind_at(plane_texels(plane_spec_of(100, 100, values), whole(1, 1)), 0) == CellKind::nan);
}

TEST_CASE("every cell is under some texel, whatever the grid") {
  for (const int grid : {1, 2, 3, 7, 16, 36, 37})
    for (std::size_t spike = 0; spike < 37; ++spike) {
      std::vector<double> values(37, 0.0);
      values[spike] = 1.0;
      const PlaneTexels texels = plane_texels(plane_spec_of(1, 37, values), whole(1, grid));
      double largest = 0.0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(grid); ++i)
        largest = std::max(largest, value_at(texels, i));
      CHECK(largest == 1.0);
    }
}

TEST_CASE("rows of cells read together hold the texels that cells asked one by one hold") {
  const CounterRandom random(7, "texels");
  std::uint64_t number = 0;
  for (const bool masked : {false, true})
    for (const double odd : {0.0, infinite, -infinite, std::nan("")})
      for (const double blocked_at : {-infinite, -1e9, 0.1, infinite})
        for (const ColorMap map : {ColorMap::viridis, ColorMap::blue_orange}) {
          Tensor values(Shape({{"L", 61}, {"S", 83}}), DType::f32), mask(values.shape(), DType::f32);
          for (Index i = 0; i < values.size(); ++i) {
            const bool blocked = masked && random.uniform(number++) < 0.5;
            // Few different numbers: many are equally large, of either sign.
            const double value = 0.5 * std::round(6.0 * random.uniform(number++) - 3.0);
            const double hidden = random.uniform(number++) < 0.5 ? 0.0 : blocked_at;
            values.set_flat(i, blocked ? hidden : value);
            if (blocked) mask.set_flat(i, random.uniform(number++) < 0.7 ? -infinite : infinite);
          }
          // A row in which blocked cells still have a value, and one in which a cell is not finite.
          for (Index col = 0; masked && col < 83; ++col) values.set_flat(20 * 83 + col, 0.25);
          values.set_flat(40 * 83 + 17, odd);
          HeatmapSpec spec;
          spec.color_map = map;
          spec.blocked_at = blocked_at;
          spec.values = matrix_view(std::make_shared<const Tensor>(std::move(values)));
          spec.mask = matrix_view(std::make_shared<const Tensor>(mask));
          HeatmapSpec one_by_one = spec;  // by a mask of another type
          one_by_one.mask = matrix_view(std::make_shared<const Tensor>(mask.converted(DType::f64)));
          if (!masked) spec.mask.reset();
          for (const int side : {1, 7, 30, 61}) {
            const TexelGrid grid{side, side, side / 3, side / 2, side - side / 3, side - side / 2};
            const PlaneTexels together = plane_texels(spec, grid), apart = plane_texels(one_by_one, grid);
            CHECK(together.texels == apart.texels);
            CHECK(together.offset == apart.offset);
            CHECK(together.exponent == apart.exponent);
            CHECK(together.plain == apart.plain);
          }
        }
}

TEST_CASE("a texel is blocked only where all its cells are") {
  HeatmapSpec spec = plane_spec_of(1, 4, {-infinite, -infinite, -infinite, 0.5});
  spec.mask = matrix_view(std::make_shared<const Tensor>(
      Shape({{"L", 1}, {"S", 4}}), std::vector<double>{-infinite, -infinite, -infinite, 0.0}));
  const PlaneTexels texels = plane_texels(spec, whole(1, 2));
  CHECK(kind_at(texels, 0) == CellKind::blocked);
  CHECK(kind_at(texels, 1) == CellKind::value);
  CHECK(value_at(texels, 1) == 0.5);
}

TEST_CASE("values of any magnitude fit into a float with its full precision") {
  for (const double magnitude : {1.0, 1e-320, 1e-300, 1e300, 1.7e308}) {
    const std::vector<double> values = {-magnitude, magnitude / 3, magnitude};
    const PlaneTexels texels = plane_texels(plane_spec_of(1, 3, values), whole(1, 3));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(std::abs(texels.texels[2 * i]) <= 1.0f);
      CHECK(std::abs(value_at(texels, i) / magnitude - values[i] / magnitude) < 1e-6);
    }
  }
}

TEST_CASE("a box of the grid holds what the whole grid holds there") {
  std::vector<double> values;
  for (int i = 0; i < 20 * 30; ++i) values.push_back(std::sin(i * 0.7));
  const HeatmapSpec spec = plane_spec_of(20, 30, values);
  const PlaneTexels all = plane_texels(spec, whole(7, 11));
  const PlaneTexels box = plane_texels(spec, {7, 11, 2, 3, 4, 5});
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 5; ++c)
      CHECK(value_at(box, r * 5 + c) == doctest::Approx(value_at(all, (r + 2) * 11 + c + 3)));
}
