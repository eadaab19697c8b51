#include "app/stage/axis_light.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/panels/named_text.h"

namespace headwise {
namespace {

class AxisLight {
 public:
  AxisLight(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane)
      : context_(context), part_(part), plane_(plane), letter_(context.pointed->axis) {
    min_ = {float(plane.x), float(plane.y)};
    max_ = {float(plane.x + plane.width), float(plane.y + plane.height)};
  }

  void draw() const {
    bool drawn = false;
    if (axis_has_letter(part_.matrix.col_axis, letter_)) {
      along(true, part_.matrix.col_axis, part_.col_block, plane_.cols);
      drawn = true;
    }
    if (!part_.matrix.row_axis.empty() && axis_has_letter(part_.matrix.row_axis, letter_)) {
      along(false, part_.matrix.row_axis, part_.row_block, plane_.rows);
      drawn = true;
    }
    if (!drawn) leading();
  }

 private:
  // A line along the top or the left side, from index `begin` to `end`, with ends that turn inwards.
  void bracket(bool across, Index begin, Index end, Index block) const {
    const Painter paint = context_.painter();
    const float thick = std::max(2.0f, std::round(3.0f * context_.scale)), turn = 4.0f * context_.scale;
    const ImU32 color = im_color(context_.palette.focus);
    const auto line = [&](ImVec2 a, ImVec2 b) {
      paint.fill({a.x - 1, a.y - 1}, {b.x + 1, b.y + 1}, context_.palette.panel);
      paint.fill(a, b, color);
    };
    const auto place = [&](Index i) {
      const Index count = across ? plane_.cols : plane_.rows;
      const float length = across ? max_.x - min_.x : max_.y - min_.y;
      const float start = across ? min_.x : min_.y;
      return std::round(start + length * float(i) / float(std::max<Index>(count, 1)));
    };
    const float from = place(begin), to = place(end);
    if (across) {
      line({from, min_.y - thick}, {to, min_.y});
    } else {
      line({min_.x - thick, from}, {min_.x, to});
    }
    std::vector<Index> ticks{begin, end};
    for (Index i = block > 0 ? begin + block : end; i < end; i += block) ticks.push_back(i);
    for (const Index i : ticks) {
      const float at = i == end ? place(i) - thick : place(i);
      if (across) {
        line({at, min_.y - thick}, {at + thick, min_.y + turn});
      } else {
        line({min_.x - thick, at}, {min_.x + turn, at + thick});
      }
    }
    const float middle = 0.5f * (from + to);
    const Index size = block > 0 ? (end - begin) / block : end - begin;
    label(across ? ImVec2(middle, min_.y + turn) : ImVec2(min_.x + turn, middle), across,
          fmt::format("{} {}", letter_, size));
  }

  // At the middle of the side that it describes, on the cells.
  void label(ImVec2 at, bool under, const std::string& text) const {
    ImFont* font = context_.fonts.mono_small;
    const float pad = 3.0f * context_.scale;
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str());
    ImVec2 min(under ? at.x - 0.5f * size.x - pad : at.x, under ? at.y : at.y - 0.5f * size.y - pad);
    min = {std::floor(min.x), std::floor(min.y)};
    const Painter paint = context_.painter();
    paint.fill(min, {min.x + size.x + 2 * pad, min.y + size.y + 2 * pad}, context_.palette.control, pad);
    paint.text(font, {min.x + pad, min.y + pad}, context_.palette.focus, text);
  }

  void along(bool across, const std::string& axis, Index block, Index count) const {
    const bool joined = axis != letter_ && block > 0 && block < count;
    if (!joined) return bracket(across, 0, count, 0);
    const bool heads = letter_ == "H" || letter_ == "G";
    if (heads) return bracket(across, 0, count, block);
    const Index blocks = count / block;
    const Index per_block = std::max<Index>(1, context_.trace.options.num_heads / std::max<Index>(1, blocks));
    const Index chosen = std::min(context_.selection.head / per_block, blocks - 1);
    bracket(across, chosen * block, (chosen + 1) * block, 0);
  }

  void leading() const {
    const Shape& shape = part_.matrix.view.tensor->shape();
    for (std::size_t i = 0; i < part_.matrix.leading.size(); ++i) {
      const Axis& axis = shape.axes()[i];
      if (!axis_has_letter(axis.name, letter_)) continue;
      const float thick = context_.hairline();
      context_.painter().outline(Box(min_, max_).grown(thick), context_.palette.focus, thick);
      label({0.5f * (min_.x + max_.x), min_.y}, true,
            fmt::format("{} {} of {}", axis.name, part_.matrix.leading[i], axis.size));
      return;
    }
  }

  const PanelContext& context_;
  const StagePart& part_;
  const PlaneGeometry& plane_;
  const std::string& letter_;
  ImVec2 min_, max_;
};

}  // namespace

void draw_axis_light(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  if (!context.pointed || context.pointed->axis.empty() || !part.matrix.view.tensor) return;
  AxisLight(context, part, plane).draw();
}

}  // namespace headwise
