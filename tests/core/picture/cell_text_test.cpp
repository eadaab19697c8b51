#include "core/picture/number_text.h"

#include <doctest/doctest.h>

#include "core/picture/font.h"
#include "tests/core/picture/sample_heatmaps.h"

using namespace headwise;

namespace {

std::optional<CellDigits> digits_for(std::vector<double> values, double cell) {
  HeatmapSpec spec;
  const auto count = static_cast<Index>(values.size());
  spec.values = matrix_of(1, count, std::move(values));
  return cell_digits(spec, heatmap_contents(spec), cell, cell);
}

}  // namespace

TEST_CASE("a number in a cell has a real minus sign and never a signed zero") {
  CHECK(cell_text(-1.25, {1, false, true, 0}) == "−1.2");
  CHECK(cell_text(-0.04, {1, false, true, 0}) == "0.0");
  CHECK(cell_text(3.14159, {2, false, true, 0}) == "3.14");
  CHECK(cell_text(-3.1e-7, {1, true, true, 0}) == "−3.1e−7");
  CHECK(cell_text(2e12, {0, true, true, 0}) == "2e12");
  CHECK(cell_text(0.0, {0, true, true, 0}) == "0");
  CHECK(cell_text(-0.254, {2, false, false, 0}) == "−.25");
  CHECK(cell_text(1.5, {2, false, false, 0}) == "1.50");
  CHECK(cell_text(0.001, {2, false, false, 0}) == ".00");
}

TEST_CASE("larger cells show more decimals, small ones none, the same for all cells of a heatmap") {
  CHECK(digits_for({-12.53, 0.2}, 28)->decimals == 1);
  CHECK(digits_for({0.731, 0.002}, 28)->decimals == 2);
  CHECK(digits_for({0.731, 0.002}, 100)->decimals == 2);
  CHECK_FALSE(digits_for({-12.53, 0.2}, 10));
  CHECK_FALSE(digits_for({0.5}, 7));
}

TEST_CASE(
    "where two digits of the largest number do not fit, the zero before the point goes first, then all") {
  CHECK(digits_for({0.254, -0.1}, 28)->leading_zero);
  const auto narrow = digits_for({0.254, -0.1}, 24);
  REQUIRE(narrow);
  CHECK_FALSE(narrow->leading_zero);
  CHECK(narrow->decimals == 2);
  CHECK_FALSE(digits_for({0.254, -0.1}, 18));
  CHECK_FALSE(digits_for({0.00254, -0.001}, 24));
}

TEST_CASE("numbers that decimals cannot tell are written with an exponent") {
  CHECK(digits_for({2.5e-9, 1e-9}, 60)->scientific);
  CHECK(digits_for({-3e17}, 60)->scientific);
  CHECK_FALSE(digits_for({0.0, 0.0}, 60)->scientific);
}

TEST_CASE("every number is narrower than its cell, whatever the numbers") {
  for (const double scale : {1e-300, 1e-6, 0.01, 1.0, 9.9996, 123.0, 1e5, 1e300}) {
    for (const double cell : {12.0, 20.0, 28.0, 55.5, 200.0}) {
      const std::vector<double> values = {scale, -scale, scale / 3, -scale / 1000, 0.0};
      const auto digits = digits_for(values, cell);
      if (!digits) continue;
      CHECK(digits->size >= 8.0);
      CHECK(digits->size < cell / 2);
      for (const double value : values) {
        CAPTURE(cell_text(value, *digits));
        CHECK(text_width(cell_text(value, *digits), FontFace::mono, digits->size) < cell - 2.0);
      }
    }
  }
  CHECK(digits_for({1e300, -1e300}, 55.5));
}

TEST_CASE("whole numbers are written whole") {
  HeatmapSpec spec;
  Tensor lengths(Shape{{"N", 2}}, DType::i64);
  lengths.set_flat(1, 12.0);
  spec.values = matrix_view(std::make_shared<Tensor>(lengths));
  CHECK(cell_digits(spec, heatmap_contents(spec), 60, 60)->decimals == 0);
}

TEST_CASE("no digits where there is no number or none are wanted") {
  CHECK_FALSE(digits_for({std::nan("")}, 60));
  HeatmapSpec spec = sample_heatmap(2, 2);
  spec.digits = false;
  CHECK_FALSE(cell_digits(spec, heatmap_contents(spec), 60, 60));
}

TEST_CASE("a blocked cell is written as −∞ or as the number that replaces it, and a weight of 0 not at all") {
  HeatmapSpec spec;
  CHECK(blocked_text(spec, -std::numeric_limits<double>::infinity()) == "−∞");
  CHECK(blocked_text(spec, 0.0).empty());
  spec.blocked_at = -1e9;
  CHECK(blocked_text(spec, -1e9) == "−1e9");
  CHECK(blocked_text(spec, 0.0).empty());
  spec.blocked_at = -10.0;
  CHECK(blocked_text(spec, -10.0) == "−10");
  spec.blocked_at = 0.0;
  CHECK(blocked_text(spec, 0.0) == "0");
  spec.blocked_at = -3.5;
  CHECK(blocked_text(spec, -3.5) == "−3.5");
}
