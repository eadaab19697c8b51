#include "app/window/window_layout.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

// Design units
constexpr double least_roomy_width = 1400, least_roomy_height = 800;
constexpr double roomy_margin = 12, small_margin = 6, roomy_gap = 10, small_gap = 6;
constexpr double stage_only_margin = 8, stage_only_width = 1000, stage_only_height = 580;
constexpr double most_enlarged = 6.0;     // beyond it, fonts would not fit in a texture
constexpr double highest_caption = 0.45;  // of the window
constexpr double hall_caption = 0.32;     // of its width
constexpr double roomy_menu_height = 42, low_menu_height = 34;
constexpr double roomy_steps_height = 44, low_steps_height = 38;
constexpr double status_height = 26;
constexpr double least_stage_width = 360;  // next to the panels; with less, they are dropped
constexpr double filmstrip_width = 164;

}  // namespace

double stage_only_scale(double width, double height, double least) {
  const double fits = std::min({width / stage_only_width, height / stage_only_height, most_enlarged});
  return std::max(least, std::floor(8.0 * fits) / 8.0);
}

WindowLayout window_layout(double width, double height, double scale, const LayoutWishes& wishes) {
  WindowLayout layout;
  const auto px = [scale](double units) { return std::round(units * scale); };
  const auto rect = [](double x, double y, double w, double h) {
    return w >= 1 && h >= 1 ? RectF{x, y, w, h} : RectF{};
  };
  const double units_wide = width / scale, units_high = height / scale;
  // The panels around the stage give way first: the numbers in its cells need every pixel of a small window.
  const bool narrow = units_wide < least_roomy_width, low = units_high < least_roomy_height;
  layout.small = narrow || low;
  const double gap = layout.small ? small_gap : roomy_gap, margin = narrow ? small_margin : roomy_margin;
  const double menu_height = low ? low_menu_height : roomy_menu_height;
  const double steps_height = low ? low_steps_height : roomy_steps_height;
  double left = px(margin);
  const double right = width - px(margin);
  double top = px(stage_only_margin);
  if (!wishes.stage_only) {
    layout.menu = rect(0, 0, width, std::min(px(menu_height), height));
    top = px(menu_height);
  }
  if (!wishes.hall || wishes.steps_over)
    layout.steps = rect(left, top, right - left, std::min(px(steps_height), height - top));
  if (!wishes.hall) top += px(steps_height) + px(gap);

  double bottom = height - px(margin);
  if (units_high >= 320 && !wishes.stage_only) {
    bottom = height - px(status_height);
    layout.status = rect(left, bottom, right - left, px(status_height));
  }
  double strip = 0.0;  // units that it takes from the other panels
  if (wishes.filmstrip && !wishes.stage_only &&
      units_wide - 2 * margin >= filmstrip_width + gap + least_stage_width) {
    layout.filmstrip = rect(left, top, px(filmstrip_width), bottom - top);
    strip = filmstrip_width + gap;
    left += px(filmstrip_width) + px(gap);
  }
  double stage_left = left, stage_right = right;
  if (wishes.hall && wishes.caption_height > 0.0) {
    const double wide = std::round(hall_caption * (right - left));
    layout.caption = rect(left, top, wide, bottom - top);
    stage_left += wide + px(gap);
  } else if (wishes.caption_height > 0.0) {
    const double high = std::round(std::min(wishes.caption_height, highest_caption * height));
    layout.caption = rect(left, bottom - high, right - left, high);
    bottom -= high + px(gap);
  } else if (units_high >= 560 && !wishes.stage_only) {
    const double graph_height = px(std::clamp(0.112 * units_high, 92.0, 132.0));
    layout.graph = rect(left, bottom - graph_height, right - left, graph_height);
    bottom -= graph_height + px(gap);
  }

  const double setup_width = std::clamp(0.16 * units_wide, 244.0, 300.0);
  const double inspector_width = std::clamp((narrow ? 0.225 : 0.24) * units_wide, 236.0, 440.0);
  const double room = units_wide - 2 * margin - strip - least_stage_width;
  if (!wishes.stage_only && room >= setup_width + gap) {
    layout.setup = rect(left, top, px(setup_width), bottom - top);
    stage_left += px(setup_width) + px(gap);
  }
  if (!wishes.stage_only && room >= setup_width + inspector_width + 2 * gap) {
    layout.inspector = rect(right - px(inspector_width), top, px(inspector_width), bottom - top);
    stage_right -= px(inspector_width) + px(gap);
  }
  layout.stage = rect(stage_left, top, stage_right - stage_left, bottom - top);
  return layout;
}

}  // namespace headwise
