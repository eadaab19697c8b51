#include "core/picture/picture_frame.h"

#include <algorithm>
#include <cmath>

#include "core/picture/color_bar.h"
#include "core/picture/label_text.h"

namespace headwise {
namespace {

constexpr double title_scale = 1.2;       // relative to the base size
constexpr double narrowest_title = 40.0;  // ems that a title may take however narrow the heatmap is

}  // namespace

void add_title(PictureBuilder& picture, const std::string& title, Theme theme, double base) {
  const double size = title_scale * base;
  const std::string shown =
      shorten(title, FontFace::bold, size, std::max(picture.width(), narrowest_title * base));
  picture.add(TextItem{{picture.left(), picture.top() - (0.75 + text_descent) * size},
                       shown,
                       FontFace::bold,
                       size,
                       picture_ink(theme).text});
}

void add_bar_and_legend(PictureBuilder& picture, const HeatmapSpec& spec, const HeatmapContents& contents,
                        bool with_bar, double width, double base, const PictureOptions& options) {
  const double size = 0.92 * base;
  const double y = std::round(picture.bottom() + 1.2 * base);
  const double right = std::max(picture.right(), 30 * base);
  PictureBuilder bar;
  with_bar = with_bar && options.color_bar;
  if (with_bar) {
    HeatmapSpec labelled = spec;
    if (options.bar_label) labelled.range_note = *options.bar_label;
    bar = color_bar(labelled, contents, std::clamp(width, 10 * size, 16 * size), size);
  }
  picture.add(bar, {0, y});
  const double beside = bar.width() + 2.5 * size;
  PictureBuilder legend = cell_legend(spec, contents, right - beside, size);
  const bool fits = with_bar && legend.right() <= right - beside && legend.height() <= bar.height();
  if (!fits) legend = cell_legend(spec, contents, right, size);
  picture.add(legend, fits ? PointF{std::round(beside), std::round(y + bar.height() - legend.height())}
                           : PointF{0, std::round(y + (with_bar ? bar.height() + 0.6 * size : 0))});
}

}  // namespace headwise
