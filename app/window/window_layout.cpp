#include "app/window/window_layout.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

// Design units
constexpr double least_roomy_width = 1400, least_roomy_height = 800;
constexpr double roomy_margin = 12, small_margin = 6, roomy_gap = 10, small_gap = 6;
constexpr double stage_only_margin = 8, stage_only_width = 1000, stage_only_height = 580;
constexpr double most_enlarged = 6.0;                // beyond it, fonts would not fit in a texture
constexpr double highest_caption = 0.45;             // of the window
constexpr double presentation_caption_share = 0.32;  // of its width
// In a low window, as with type of 200 %, the stage needs all of the height: the caption stands beside it.
constexpr double caption_below_from_height = 440, caption_beside_from_width = 560, low_caption = 0.38;
constexpr double roomy_menu_height = 42, low_menu_height = 34;
constexpr double roomy_steps_height = 44, low_steps_height = 38;
constexpr double status_height = 26, training_height = 30;
constexpr double share_of_notes = 0.2, least_notes = 96, most_notes = 200;  // of the height, and units
constexpr double training_from_height = 400;                                // of the window
constexpr double graph_from_height = 640;  // of the window; with less, the graph folds
// Next to the panels; with less, they fold. In a low window a map is as wide as it can be to be read at all.
constexpr double least_stage_width = 360, least_stage_width_if_low = 450;
constexpr double least_stage_beside = 300,
                 least_stage_above = 170;  // of what is unfolded; with less, it takes the stage's place
constexpr double filmstrip_width = 164, filmstrip_from_width = 1040;  // of a window that has room for it
constexpr double tabs_width = 20, graph_tab_width = 60;
constexpr double least_tabs_width = 300, least_tabs_height = 220;  // of a window that has tabs

RectF rect_of(double x, double y, double w, double h) {
  return w >= 1 && h >= 1 ? RectF{x, y, w, h} : RectF{};
}

double graph_units(double units_high) {
  return std::clamp(0.112 * units_high, 92.0, 132.0);
}

// The window in design units, and what is between its panels.
struct Units {
  double scale, wide, high, margin, gap;
  double strip;  // of the width: the filmstrip takes it from the other panels
  bool narrow;
  double px(double units) const { return std::round(units * scale); }
};

// What is left for the stage, in pixels.
struct Room {
  double left, right, top, bottom;
  double height() const { return bottom - top; }
};

// Setup and inspector at the sides, or folded into tabs: setup first, since a map needs width and what
// explains it. A graph that found no room likewise. `room` shrinks.
void place_sides(const Units& units, const LayoutWishes& wishes, Room& room, WindowLayout& layout) {
  const auto px = [&](double length) { return units.px(length); };
  const double setup = std::clamp(0.16 * units.wide, 244.0, 300.0);
  const double inspector = std::clamp((units.narrow ? 0.225 : 0.24) * units.wide, 236.0, 440.0);
  const double least = units.high < least_roomy_height ? least_stage_width_if_low : least_stage_width;
  const double free = units.wide - 2 * units.margin - units.strip - least;
  layout.folds_setup = free < setup + inspector + 2 * units.gap;
  layout.folds_inspector = free < tabs_width + inspector + 2 * units.gap;
  if (!layout.folds_setup) {
    layout.setup = rect_of(room.left, room.top, px(setup), room.height());
    room.left += px(setup) + px(units.gap);
  }
  if (!layout.folds_inspector) {
    layout.inspector = rect_of(room.right - px(inspector), room.top, px(inspector), room.height());
    room.right -= px(inspector) + px(units.gap);
  }
  layout.folds_graph = layout.graph.height <= 0.0 && wishes.caption_height <= 0.0;
  if (units.wide < least_tabs_width || units.high < least_tabs_height)
    layout.folds_setup = layout.folds_inspector = layout.folds_graph = layout.folds_filmstrip = false;
  const double tabs = px(tabs_width), step = tabs + px(units.gap);
  if (layout.folds_setup || layout.folds_filmstrip) {
    layout.left_tabs = rect_of(room.left, room.top, tabs, room.height());
    room.left += step;
  }
  if (layout.folds_inspector) {
    layout.right_tabs = rect_of(room.right - tabs, room.top, tabs, room.height());
    room.right -= step;
  }
  if (layout.folds_graph && !layout.folds_inspector) {
    const double wide = px(graph_tab_width);
    layout.graph_tab = rect_of(layout.status.x, layout.status.y, wide, layout.status.height);
    layout.status = rect_of(layout.status.x + wide + px(units.gap), layout.status.y,
                            layout.status.width - wide - px(units.gap), layout.status.height);
  }
  const double whole = std::max(0.0, room.right - room.left);
  const auto width_of_unfolded = [&](double wanted) {
    return whole - px(wanted) - px(units.gap) >= px(least_stage_beside) ? px(wanted) : whole;
  };
  if (layout.folds_setup && wishes.unfolded == SidePanel::setup) {
    layout.setup = rect_of(room.left, room.top, width_of_unfolded(setup), room.height());
    room.left += layout.setup.width + px(units.gap);
  } else if (layout.folds_inspector && wishes.unfolded == SidePanel::inspector) {
    const double taken = width_of_unfolded(inspector);
    layout.inspector = rect_of(room.right - taken, room.top, taken, room.height());
    room.right -= taken + px(units.gap);
  } else if (layout.folds_filmstrip && wishes.unfolded == SidePanel::filmstrip) {
    layout.filmstrip = rect_of(room.left, room.top, width_of_unfolded(filmstrip_width), room.height());
    room.left += layout.filmstrip.width + px(units.gap);
  } else if (layout.folds_graph && wishes.unfolded == SidePanel::graph) {
    const double high = px(graph_units(units.high));
    const double taken = room.height() - high - px(units.gap) >= px(least_stage_above) ? high : room.height();
    layout.graph = rect_of(room.left, room.bottom - taken, room.right - room.left, taken);
    room.bottom -= taken + px(units.gap);
  }
}

}  // namespace

double stage_only_scale(double width, double height, double least) {
  const double fits = std::min({width / stage_only_width, height / stage_only_height, most_enlarged});
  return std::max(least, std::floor(8.0 * fits) / 8.0);
}

WindowLayout window_layout(double width, double height, double scale, const LayoutWishes& wishes) {
  WindowLayout layout;
  const auto px = [scale](double units) { return std::round(units * scale); };
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
    layout.menu = rect_of(0, 0, width, std::min(px(menu_height), height));
    top = px(menu_height);
  }
  // In a hall they lie over the stage, whose left edge is known further below.
  if (!wishes.presentation)
    layout.steps = rect_of(left, top, right - left, std::min(px(steps_height), height - top));
  if (!wishes.presentation) top += px(steps_height) + px(gap);
  // Beside a page's words there is no room for it.
  if (wishes.training && !(wishes.presentation && wishes.caption_height > 0.0) &&
      units_high >= training_from_height) {
    layout.training = rect_of(left, top, right - left, px(training_height));
    top += px(training_height) + px(gap);
  }

  double bottom = height - px(margin);
  if (units_high >= 320 && !wishes.stage_only) {
    bottom = height - px(status_height);
    layout.status = rect_of(left, bottom, right - left, px(status_height));
  }
  if (wishes.notes) {
    const double high = std::min(px(std::clamp(share_of_notes * units_high, least_notes, most_notes)),
                                 std::round(0.4 * (bottom - top)));
    layout.notes = rect_of(left, bottom - high, right - left, high);
    if (high >= 1.0) bottom -= high + px(gap);
  }
  double strip = 0.0;  // units that it takes from the other panels
  // Where the sides would fold beside it, the filmstrip folds: it is wanted beside a stage,
  // not instead of one.
  const bool strip_fits = units_wide >= filmstrip_from_width;
  layout.folds_filmstrip = wishes.filmstrip && !wishes.stage_only && !strip_fits;
  if (wishes.filmstrip && !wishes.stage_only && strip_fits) {
    layout.filmstrip = rect_of(left, top, px(filmstrip_width), bottom - top);
    strip = filmstrip_width + gap;
    left += px(filmstrip_width) + px(gap);
  }
  double stage_left = left, stage_right = right;
  if (wishes.presentation && wishes.caption_height > 0.0) {
    const double wide = std::round(presentation_caption_share * (right - left));
    layout.caption = rect_of(left, top, wide, bottom - top);
    stage_left += wide + px(gap);
  } else if (wishes.caption_height > 0.0 && !wishes.writes_caption && !wishes.stage_only &&
             units_high < caption_below_from_height && units_wide >= caption_beside_from_width) {
    const double wide = std::round(low_caption * (right - left));
    layout.caption = rect_of(left, top, wide, bottom - top);
    stage_left += wide + px(gap);
  } else if (wishes.caption_height > 0.0) {
    const double high = std::round(std::min(wishes.caption_height, highest_caption * height));
    layout.caption = rect_of(left, bottom - high, right - left, high);
    bottom -= high + px(gap);
  } else if (units_high >= graph_from_height && !wishes.stage_only) {
    const double high = px(graph_units(units_high));
    layout.graph = rect_of(left, bottom - high, right - left, high);
    bottom -= high + px(gap);
  }

  if (wishes.presentation && wishes.steps_over)
    layout.steps = rect_of(stage_left, top, stage_right - stage_left, std::min(px(steps_height), height - top));

  Room room{stage_left, stage_right, top, bottom};
  if (!wishes.stage_only)
    place_sides(Units{scale, units_wide, units_high, margin, gap, strip, narrow}, wishes, room, layout);
  layout.stage = rect_of(room.left, room.top, room.right - room.left, room.bottom - room.top);
  return layout;
}

double filmstrip_room(double width, double scale) {
  return width / scale >= filmstrip_from_width ? std::round((filmstrip_width + roomy_gap) * scale) : 0.0;
}

const RectF& area_of_notices(const WindowLayout& layout) {
  if (layout.graph.height > 0.0) return layout.graph;
  return layout.inspector.height > 0.0 ? layout.inspector : layout.stage;
}

}  // namespace headwise
