#include "core/picture/label_text.h"

#include <doctest/doctest.h>

#include "core/picture/font.h"

using namespace headwise;

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
