#include "app/widgets/lock_mark.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/ui_probe.h"

namespace headwise {

void draw_lock(const Painter& paint, const RectF& rect) {
  // Size of the lock's body, with its shackle above; smaller on a small map.
  const float size = std::round(std::clamp(0.2f * float(rect.width), paint.px(5), paint.px(9)));
  const float margin = std::round(0.3f * size), shackle = std::round(0.55f * size);
  const float ground_width = size + 2 * margin, ground_height = size + shackle + 2 * margin;
  if (float(rect.width) < 1.5f * ground_width || float(rect.height) < 1.5f * ground_height) return;
  const ImVec2 ground(std::floor(float(rect.x + rect.width) - ground_width), std::floor(float(rect.y)));
  const ImVec2 ground_end(ground.x + ground_width, ground.y + ground_height);
  paint.fill(ground, ground_end, {paint.palette.panel, 0.85f}, paint.px(2));
  const ImU32 ink = im_color(paint.palette.text);
  const ImVec2 body(ground.x + margin, ground.y + margin + shackle);
  paint.fill(body, {body.x + size, body.y + size}, ink, paint.px(1.5f));
  const float radius = 0.32f * size;
  const ImVec2 centre(body.x + 0.5f * size, body.y - 0.2f * size);
  paint.list->PathLineTo(ImVec2(centre.x - radius, body.y));
  paint.list->PathArcTo(centre, radius, 3.14159265f, 2.0f * 3.14159265f, 10);
  paint.list->PathLineTo(ImVec2(centre.x + radius, body.y));
  paint.list->PathStroke(ink, 0, std::max(1.0f, paint.px(1.6f)));
  ui_probe("lock", ground, ground_end);
}

}  // namespace headwise
