#include "app/stage/spotlight.h"

#include <imgui.h>

#include <algorithm>

#include "app/widgets/measure.h"
namespace headwise {
namespace {

constexpr float dimness = 0.82f;  // what lies outside is still recognisable, but recedes

}  // namespace

std::vector<RectF> outside_of(const RectF& area, const std::vector<RectF>& rectangles) {
  // Within each band between two edges the same rectangles are cut out.
  const double bottom = area.y + area.height, right = area.x + area.width;
  std::vector<double> edges{area.y, bottom};
  for (const RectF& r : rectangles) {
    for (const double y : {r.y, r.y + r.height}) {
      if (y > area.y && y < bottom) edges.push_back(y);
    }
  }
  std::ranges::sort(edges);
  std::vector<RectF> outside;
  for (std::size_t band = 0; band + 1 < edges.size(); ++band) {
    const double from = edges[band], to = edges[band + 1];
    if (!(to > from)) continue;
    std::vector<std::pair<double, double>> cuts;
    for (const RectF& r : rectangles) {
      if (r.y <= from && r.y + r.height >= to && r.width > 0) cuts.emplace_back(r.x, r.x + r.width);
    }
    std::ranges::sort(cuts);
    double x = area.x;
    for (const auto& [begin, end] : cuts) {
      if (begin > x && begin < right) outside.push_back({x, from, begin - x, to - from});
      x = std::max(x, end);
    }
    if (x < right) outside.push_back({x, from, right - x, to - from});
  }
  return outside;
}

void draw_spotlight(const PanelContext& context, const RectF& area, const std::vector<RectF>& lit) {
  if (lit.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const RectF& r : outside_of(area, lit)) {
    list->AddRectFilled(corner(r), far_corner(r), im_color(context.palette.panel, dimness));
  }
}

}  // namespace headwise
