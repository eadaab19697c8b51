// Text in pictures: labels of axes and numbers in cells.
#include "core/export/label_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/export/font.h"
#include "core/export/number_text.h"
#include "tests/core/export/sample_heatmaps.h"

using namespace headwise;

namespace {

std::optional<CellDigits> digits_for(std::vector<double> values, double cell) {
  HeatmapSpec spec;
  const auto count = static_cast<Index>(values.size());
  spec.values = matrix_of(1, count, std::move(values));
  return cell_digits(spec, heatmap_contents(spec), cell, cell);
}

}  // namespace

TEST_CASE("text is made fit to stand on one line") {
  CHECK(printable("query") == "query");
  CHECK(printable("a\nb\tc\x01") == "a\\nb\\tc\\x01");
  CHECK(printable("\xff\xfe") == "\uFFFD\uFFFD");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("e\xCC\x81") == "é");
  CHECK(printable("\u202Eabc\u2066") == "abc");
  CHECK(printable("\u2028") == "\\u{2028}");
  CHECK(printable("\xEF\xBF\xBE") == "\uFFFD");  // U+FFFE, not allowed in XML
  CHECK(printable("😀שלום") == "😀שלום");
}

TEST_CASE("making text printable twice changes nothing") {
  for (const char* text : {"a\nb", "\\n", "\xff", "e\xCC\x81", "\u2028", "\xF0\x9F\x98\x80"})
    CHECK(printable(printable(text)) == printable(text));
}

TEST_CASE("bytes that are no UTF-8 are replaced, all else is kept") {
  CHECK(valid_utf8("a\nb\"é") == "a\nb\"é");
  CHECK(valid_utf8("\xC3(") == "\uFFFD(");
  CHECK(valid_utf8("\xED\xA0\x80") != "\xED\xA0\x80");  // a surrogate
}

TEST_CASE("long text is cut between two characters and stays within its width") {
  const std::string long_text = "extraordinarily-long";
  for (const double width : {14.0, 30.0, 55.0, 80.0}) {
    const std::string cut = shorten(long_text, FontFace::sans, 12.0, width);
    CHECK(cut.ends_with("…"));
    CHECK(text_width(cut, FontFace::sans, 12.0) <= width);
  }
  CHECK(shorten(long_text, FontFace::sans, 12.0, 500.0) == long_text);
  CHECK(shorten(long_text, FontFace::sans, 12.0, 2.0).empty());
  // A letter and its two marks, four times: what is left holds whole clusters.
  const std::string cluster = "x\xCC\xA3\xCC\x8D";
  const std::string cut = shorten(cluster + cluster + cluster + cluster, FontFace::sans, 12.0, 26.0);
  CHECK((cut.size() - std::string("…").size()) % cluster.size() == 0);
}

TEST_CASE("right-to-left letters are painted from the right, numbers and Latin letters from the left") {
  CHECK(visual_order("ab") == std::vector<char32_t>{U'a', U'b'});
  CHECK(visual_order("אב") == std::vector<char32_t>{U'ב', U'א'});
  CHECK(visual_order("x אב ג 12") ==
        std::vector<char32_t>{U'x', U' ', U'ג', U' ', U'ב', U'א', U' ', U'1', U'2'});
}

TEST_CASE(
    "labels that fit side by side stand upright, others are slanted, and more so where cells are narrow") {
  const std::vector<std::string> words = {"The", "animal", "cross", "street"};
  CHECK(column_axis_labels(words, 4, 60.0, 12.0).degrees == 0.0);
  CHECK(column_axis_labels(words, 4, 28.0, 12.0).degrees == 35.0);
  CHECK(column_axis_labels(words, 4, 18.0, 12.0).degrees == 60.0);
  CHECK(column_axis_labels(words, 4, 18.0, 12.0).labels.size() == 4);
}

TEST_CASE("labels that fit in no way are thinned by 1, 2, 5, 10 …") {
  const std::vector<std::string> words(100, "word");
  const AxisLabels columns = column_axis_labels(words, 100, 3.0, 12.0);
  CHECK(columns.step == 10);
  CHECK(columns.labels.size() == 10);
  CHECK(columns.labels[3].index == 30);
  CHECK(row_axis_labels(words, 100, 3.0, 12.0).step == 5);
  CHECK(row_axis_labels(words, 100, 1.0, 12.0).step == 20);
  CHECK(row_axis_labels(words, 100, 14.0, 12.0).step == 1);
}

TEST_CASE("indices stand in for names that are missing, and are thinned rather than slanted") {
  const AxisLabels labels = column_axis_labels({}, 4096, 1.0, 12.0);
  CHECK(labels.degrees == 0.0);
  CHECK(labels.labels[1].text == std::to_string(labels.step));
  CHECK(text_width("4000", FontFace::sans, 12.0) < static_cast<double>(labels.step));
  CHECK(row_axis_labels({"The"}, 2, 20.0, 12.0).labels[1].text == "1");
}

TEST_CASE("a very long name is cut, and no line of an axis without cells is made") {
  const AxisLabels labels = row_axis_labels({std::string(5000, 'x')}, 1, 20.0, 12.0);
  CHECK(labels.labels[0].text.ends_with("…"));
  CHECK(labels.widest <= 12.0 * 12.0);
  CHECK(row_axis_labels({}, 0, 20.0, 12.0).labels.empty());
  CHECK(column_axis_labels({}, 0, 20.0, 12.0).labels.empty());
}

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
