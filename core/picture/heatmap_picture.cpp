#include <algorithm>
#include <cmath>

#include "core/picture/heatmap_block.h"
#include "core/picture/picture.h"
#include "core/picture/picture_frame.h"

namespace headwise {

Picture heatmap_picture(const HeatmapSpec& spec, double cell_pixels, const PictureOptions& options) {
  const double width = plane_pixels(spec.values.cols, cell_pixels),
               height = plane_pixels(spec.values.rows, cell_pixels);
  const PictureType type = picture_type(cell_pixels, std::min(width, height), options.font_size);
  const HeatmapContents contents = heatmap_contents(spec);
  PictureBuilder picture = heatmap_block(spec, contents, cell_pixels, type, {});
  if (!spec.title.empty()) add_title(picture, spec.title, spec.theme, type.base);
  if (width > 0 && height > 0) add_bar_and_legend(picture, spec, contents, true, width, type.base, options);
  return picture.finish(std::round(1.3 * type.base), ground_color(spec.theme));
}

}  // namespace headwise
