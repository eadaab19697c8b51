#include "core/export/picture_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/core/export/sample_heatmaps.h"

using namespace headwise;

namespace {

std::vector<std::string> texts(const PictureBuilder& part) {
  std::vector<std::string> out;
  for (const TextItem& item : part.finish(0, {}).texts) out.push_back(item.text);
  return out;
}

bool says(const PictureBuilder& part, const std::string& text) {
  const std::vector<std::string> all = texts(part);
  return std::find(all.begin(), all.end(), text) != all.end();
}

}  // namespace

TEST_CASE("ticks have as many digits as the range needs, and no more") {
  CHECK(range_ticks({-14.113, 14.113}, false, false).lo == "−14.1");
  CHECK(range_ticks({0.0, 0.5}, false, false).hi == "0.5");
  CHECK(range_ticks({1.00001, 1.00002}, false, false).lo == "1.00001");
  CHECK(range_ticks({1.00001, 1.00002}, false, false).hi == "1.00002");
  CHECK(range_ticks({-3.0, 3.0}, false, false).zero);
  CHECK_FALSE(range_ticks({0.0, 3.0}, false, false).zero);
}

TEST_CASE("ends beyond which values lie are marked, a range of one value says so") {
  CHECK(range_ticks({-1.0, 1.0}, true, false).lo == "≤ −1");
  CHECK(range_ticks({-1.0, 1.0}, true, false).hi == "1");
  CHECK(range_ticks({-1.0, 1.0}, false, true).hi == "≥ 1");
  CHECK(range_ticks({0.25, 0.25}, false, false).lo == "all 0.25");
}

TEST_CASE("the bar of a fixed range tells what it clips") {
  HeatmapSpec spec = sample_heatmap(3, 3);
  CHECK(says(color_bar(spec, heatmap_contents(spec), 150, 12), "4"));
  spec.range = {-1.0, 1.0};
  const PictureBuilder bar = color_bar(spec, heatmap_contents(spec), 150, 12);
  CHECK(says(bar, "≤ −1"));
  CHECK(says(bar, "0"));
  CHECK(says(bar, "≥ 1"));
  CHECK(says(bar, "fixed"));
}

TEST_CASE("the legend names what is there, and only that") {
  HeatmapSpec spec = sample_heatmap(3, 3);
  CHECK(texts(cell_legend(spec, heatmap_contents(spec), 500, 12)).empty());
  spec = with_every_kind(spec);
  const PictureBuilder legend = cell_legend(spec, heatmap_contents(spec), 500, 12);
  for (const char* entry :
       {"blocked: −∞", "blocked, with a value", "NaN, 1 cell", "−∞, 1 cell", "+∞, 1 cell"}) {
    CAPTURE(entry);
    CHECK(says(legend, entry));
  }
  CHECK(legend.finish(0, {}).planes.size() == 5);
  CHECK(legend.width() <= 500);
}

TEST_CASE("the legend of an indexer's scores tells keys that it does not choose from blocked ones") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HeatmapSpec spec = sample_heatmap(1, 3);
  spec.blocked_at = infinity;  // their values stay
  spec.mask = matrix_view(std::make_shared<const Tensor>(Shape{{"L", 1}, {"S", 3}},
                                                         std::vector<double>{0.0, infinity, -infinity}));
  CHECK(cell_kind(spec, 0, 0) == CellKind::value);
  CHECK(cell_kind(spec, 0, 1) == CellKind::blocked_value);
  CHECK(cell_kind(spec, 0, 2) == CellKind::blocked);
  const PictureBuilder legend = cell_legend(spec, heatmap_contents(spec), 500, 12);
  CHECK(says(legend, "blocked"));
  CHECK(says(legend, "not chosen"));
  spec.blocked_at = -infinity;
  CHECK(cell_kind(spec, 0, 1) == CellKind::value);
}

TEST_CASE("the legend says where what is blocked is −∞") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HeatmapSpec spec = sample_heatmap(2, 2);
  Tensor values(Shape{{"L", 2}, {"S", 2}}, DType::f64);
  values.set_flat(1, -infinity);
  spec.values = matrix_view(std::make_shared<const Tensor>(values));
  spec.mask = spec.values;
  CHECK(says(cell_legend(spec, heatmap_contents(spec), 500, 12), "blocked: −∞"));
  spec.values = matrix_view(std::make_shared<const Tensor>(Shape{{"L", 2}, {"S", 2}}, DType::f64));
  CHECK(says(cell_legend(spec, heatmap_contents(spec), 500, 12), "blocked"));
}
