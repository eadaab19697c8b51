#include "app/stage/stage_motion.h"

#include <imgui.h>

#include <algorithm>

#include "app/content/motion.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/heatmap_view.h"

namespace headwise {
namespace {

// Above this many cells numbers do not change in place: the rows appear one after the other.
constexpr Index most_morphed_cells = Index{1} << 16;

double mixed(double a, double b, double t) {
  return a + (b - a) * t;
}
RectF mixed(const RectF& a, const RectF& b, double t) {
  return {mixed(a.x, b.x, t), mixed(a.y, b.y, t), mixed(a.width, b.width, t), mixed(a.height, b.height, t)};
}
bool same_matrix(const StagePart& a, const StagePart& b) {
  return a.matrix.name == b.matrix.name && a.matrix.leading == b.matrix.leading;
}

// Where the previous step has this matrix; null if it does not show it.
std::optional<RectF> place_before(const StagePart& part, const StageContent& before, const StageLayout& layout) {
  if (before.result && same_matrix(part, *before.result)) return layout.result;
  if (before.left && layout.left && same_matrix(part, *before.left)) return layout.left;
  if (before.above && layout.above && same_matrix(part, *before.above)) return layout.above;
  return std::nullopt;
}

class Drawing {
 public:
  Drawing(const PanelContext& context, const StageContent& content, const StageLayout& layout)
      : context_(context),
        content_(content),
        layout_(layout),
        paint_(context.painter()),
        plane_(plane_geometry(layout.result, content.result->matrix.view.rows,
                              content.result->matrix.view.cols)) {}

  void cover(const RectF& rect, float opacity = 1.0f) const {
    // One more pixel on each side: planes are rounded to whole pixels.
    paint_.fill(Box(rect).grown(1), {context_.palette.panel, opacity});
  }

  void frame() const { paint_.outline(layout_.result, context_.palette.text_faint); }

  void make(double t) const {
    const Rule rule = declared_rule(context_.trace, content_.result->matrix.name);
    switch (making_of(rule)) {
      case Making::blocks:
        if (content_.cell_for_cell) return;  // every cell where it was: nothing to see
        return blocks(rule, t);
      case Making::fall:
        return fall(t);
      case Making::settle:
        return settle(t);
      case Making::morph:
        if (!morphs()) return sweep(t);
        return change(content_.left->matrix.view, content_.result->matrix.view, eased(t));
      case Making::sweep:
        return sweep(t);
    }
  }

 private:
  Index rows() const { return plane_.rows; }
  Index cols() const { return plane_.cols; }

  void cover_rows_from(const RectF& column, Index row) const {
    if (row >= rows()) return;
    const double y = plane_.cell(row, 0).y;
    cover({column.x, y, column.width, column.y + column.height - y});
  }

  void plane(const HeatmapSpec& spec, const RectF& rect) const {
    draw_heatmap_plane(paint_.list, context_.heatmaps, spec, corner(rect), far_corner(rect));
  }

  // The result in other colours, and the numbers written on it.
  void numbers(const HeatmapSpec& like, TensorPtr colors, bool masked, const MatrixView& written,
               double opacity = 1.0) const {
    HeatmapSpec spec = like;
    spec.values = matrix_view(std::move(colors));
    if (!masked) spec.mask.reset();
    plane(spec, layout_.result);
    if (opacity <= 0.0) return;
    spec.values = written;
    draw_cell_digits(paint_, plane_, spec, tensor_entry(content_.result->matrix.name.id).probabilities, 2.0f,
                     float(opacity));
  }

  // Between the two: the colours blend, the numbers are those of one or the other.
  void change(const MatrixView& from, const MatrixView& to, double t) const {
    const WrittenNumbers written = written_numbers(t);
    numbers(content_.result->spec, between(from, to, t), true, written.after ? to : from, written.opacity);
  }

  bool morphs() const {
    return content_.left && content_.cell_for_cell && content_.left->matrix.view.rows == rows() &&
           rows() * cols() <= most_morphed_cells;
  }

  void sweep(double t) const {
    const SweepFront front = sweep_front(t, rows(), cols());
    cover_rows_from(layout_.result, front.row + 1);
    if (front.row < rows()) {
      const auto column = static_cast<Index>(front.column);
      if (column < cols()) cover(plane_.rect({front.row, front.row + 1, column, cols()}));
    }
    travel(front, t);
  }

  // The row at the front of the sweep, lifted out of the left operand, transposed, and laid over the column
  // that it is multiplied with.
  void travel(const SweepFront& front, double t) const {
    constexpr double lifting = 0.12;
    if (!content_.left || !content_.above || content_.cell_for_cell || !layout_.left || !layout_.above)
      return;
    const StagePart& left = *content_.left;
    const StagePart& above = *content_.above;
    if (front.row >= rows() || left.matrix.view.cols != above.matrix.view.rows) return;
    const PlaneGeometry left_plane =
        plane_geometry(*layout_.left, left.matrix.view.rows, left.matrix.view.cols);
    const RectF row = left_plane.rect({front.row, front.row + 1, 0, left_plane.cols});
    const auto column = static_cast<Index>(std::min(front.column, static_cast<double>(cols() - 1)));
    const RectF cell = plane_.cell(front.row, column);
    const RectF strip{cell.x, layout_.above->y, std::max(cell.width, 3.0 * context_.scale),
                      layout_.above->height};

    const double lifted = front.row == 0 ? eased(phase(t, 0.0, lifting)) : 1.0;
    const bool turned = lifted > 0.5;
    HeatmapSpec spec = left.spec;
    spec.mask.reset();
    MatrixView& view = spec.values;
    view.offset = left.matrix.view.flat(front.row, 0);
    view.rows = 1;
    if (turned) view = view.transposed();
    const RectF place = mixed(row, strip, lifted);
    plane(spec, place);
    const ImU32 hue = im_color(tensor_hue(context_.palette, left.matrix.name.id));
    const float width = std::max(1.0f, 1.5f * context_.scale);
    paint_.outline(place, hue, width);
    paint_.outline(row, hue, width);
    paint_.outline(cell, context_.palette.focus, width);
  }

  // Blocks of heads leave the left operand one after the other: they move apart first, then each to its place
  // in the result or, for another head, in its thumbnail.
  void blocks(const Rule& rule, double t) const {
    const std::vector<MovingBlock> moving = moving_blocks(context_.trace, rule, context_.selection.batch);
    if (moving.empty() || !content_.left || !layout_.left) return sweep(t);
    cover(layout_.result);
    const StagePart& left = *content_.left;
    const PlaneGeometry left_plane =
        plane_geometry(*layout_.left, left.matrix.view.rows, left.matrix.view.cols);
    const bool thumbnails =
        layout_.heads && content_.head_map && same_matrix(*content_.head_map, *content_.result);
    if (thumbnails) {
      for (Index head = 0; head < content_.head_total; ++head) cover(layout_.heads->thumbnail(head));
    }
    const auto count = static_cast<double>(moving.size());
    for (std::size_t i = 0; i < moving.size(); ++i) {
      const MovingBlock& block = moving[i];
      const std::optional<CellBox> from = drawn_box(left.matrix, block.from);
      const std::optional<CellBox> to = drawn_box(content_.result->matrix, block.to);
      RectF begin = from ? left_plane.rect(*from) : *layout_.left, end;
      if (to) {
        end = plane_.rect(*to);
      } else if (thumbnails && block.to.begin.size() == 4) {
        end = layout_.heads->thumbnail(head_of_map(context_.trace, rule.result, block.to.begin[1]));
      } else {
        continue;
      }
      const double start = 0.3 * static_cast<double>(i) / count;
      const double apart = eased(phase(t, 0.0, 0.25)), flown = eased(phase(t, 0.2 + start, 0.65 + start));
      const double gap = from ? (static_cast<double>(i) - (count - 1) / 2) * 5.0 * context_.scale : 0.0;
      begin.x += gap * apart;
      // The numbers are those of the result: the same cells in another place.
      HeatmapSpec spec = content_.result->spec;
      std::vector<Index> leading(block.to.begin.begin(), block.to.begin.end() - 2);
      const TensorPtr tensor = context_.trace.tensor(rule.result);
      MatrixView view = matrix_view(tensor, leading);
      const std::size_t rank = block.to.begin.size();
      view.offset = view.flat(block.to.begin[rank - 2], block.to.begin[rank - 1]);
      view.rows = block.to.end[rank - 2] - block.to.begin[rank - 2];
      view.cols = block.to.end[rank - 1] - block.to.begin[rank - 1];
      spec.values = view;
      spec.mask.reset();
      const RectF place = mixed(begin, end, flown);
      plane(spec, place);
      paint_.outline(place, context_.palette.panel);
    }
  }

  void fall(double t) const {
    const double fallen = eased(phase(t, 0.0, 0.7));
    if (fallen >= 1.0 || !morphs()) return;
    const MatrixView& scores = content_.left->matrix.view;
    numbers(content_.left->spec, between(scores, scores, 1.0), false, scores);
    if (!content_.above || !layout_.above) return;
    plane(content_.above->spec, mixed(*layout_.above, layout_.result, fallen));
  }

  void settle(double t) const {
    if (!morphs()) return sweep(t);
    const MatrixView& scores = content_.left->matrix.view;
    const auto rows_by = [&](double share) { return static_cast<Index>(share * static_cast<double>(rows())); };
    const Index with_maximum = rows_by(phase(t, 0.0, 0.3)), with_exp = rows_by(phase(t, 0.3, 0.65));
    const double divided = eased(phase(t, 0.65, 1.0));
    const TensorPtr exponentials = row_exponentials(scores);
    change(matrix_view(exponentials), content_.result->matrix.view, divided);
    if (layout_.sink) cover(*layout_.sink, float(1.0 - divided));
    if (divided > 0.0) return;
    cover_rows_from(layout_.result, with_exp);
    if (!layout_.row_figures.empty()) cover_rows_from(layout_.row_figures[0], with_maximum);
    if (layout_.row_figures.size() > 1) cover_rows_from(layout_.row_figures[1], with_exp);
  }

  const PanelContext& context_;
  const StageContent& content_;
  const StageLayout& layout_;
  Painter paint_;
  PlaneGeometry plane_;
};

}  // namespace

StageLayout entering_layout(const PanelContext& context, const StageContent& content, const StageLayout& layout,
                            const StageContent& before, const StageLayout& layout_before) {
  StageLayout entering = layout;
  const double t = eased(phase(context.motion, 0.0, entering_share));
  const auto move = [&](const std::optional<StagePart>& part, std::optional<RectF>& rect) {
    if (!part || !rect) return;
    if (const auto from = place_before(*part, before, layout_before)) rect = mixed(*from, *rect, t);
  };
  move(content.left, entering.left);
  move(content.above, entering.above);
  return entering;
}

void draw_making(const PanelContext& context, const StageContent& content, const StageContent& before,
                 const StageLayout& layout) {
  const Drawing drawing(context, content, layout);
  const double entered = phase(context.motion, 0.0, entering_share);
  if (entered >= 1.0) return drawing.make(phase(context.motion, entering_share, 1.0));
  // What the previous step did not show fades in from the background.
  const auto faded = float(1.0 - eased(entered));
  const auto shown_before = [&](const StagePart& part) {
    for (const auto* other : {&before.result, &before.left, &before.above})
      if (*other && same_matrix(part, **other)) return true;
    return false;
  };
  if (content.left && layout.left && !shown_before(*content.left)) drawing.cover(*layout.left, faded);
  if (content.above && layout.above && !shown_before(*content.above)) drawing.cover(*layout.above, faded);
  if (content.bias && layout.bias) drawing.cover(*layout.bias, faded);
  drawing.frame();
}

}  // namespace headwise
