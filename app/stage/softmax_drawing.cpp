#include "app/stage/softmax_drawing.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/widgets/heatmap_view.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

// Scales of the small type, tried in turn; below the least number of pixels nothing is legible.
constexpr std::array<float, 3> sizes{1.0f, 0.84f, 0.72f};
constexpr float least_pixels = 8.0f;

struct NumberStyle {
  int decimals = 0;
  float size = 0.0f;  // 0: there is no room
};

class Figures {
 public:
  Figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
          const StageLayout& layout)
      : context_(context), figures_(figures), scores_(scores), paint_(context.painter()) {
    across_ = layout.row_figures.empty();
    rects_ = across_ ? layout.col_figures : layout.row_figures;
    count_ = static_cast<Index>(figures.exp_sum.size());
  }

  void draw() const {
    maximum(rects_[0]);
    if (rects_.size() > 1) sums(rects_[1]);
  }

 private:
  PlaneGeometry plane_of(const RectF& rect) const {
    return across_ ? plane_geometry(rect, 1, count_) : plane_geometry(rect, count_, 1);
  }
  RectF cell(const PlaneGeometry& plane, Index query) const {
    return across_ ? plane.cell(0, query) : plane.cell(query, 0);
  }
  void caption(const RectF& rect, const std::string& text) const {
    ImFont* small = context_.fonts.small;
    const float gap = 4.0f * context_.scale;
    const ImVec2 at = across_ ? ImVec2(float(rect.x) - gap, Box(rect).middle().y - 0.5f * small->FontSize)
                              : ImVec2(Box(rect).middle().x, float(rect.y) - small->FontSize - gap);
    paint_.text(small, at, context_.palette.text_dim, text, across_ ? Align::right : Align::middle);
  }
  // The largest type, in the first format tried, in which every number fits.
  template <class Text>
  NumberStyle style_for(const PlaneGeometry& plane, std::initializer_list<int> tries, const Text& text) const {
    ImFont* mono = context_.fonts.mono_small;
    const RectF room = cell(plane, 0);
    for (const int decimals : tries) {
      float widest = 0.0f;  // at the usual size
      for (Index i = 0; i < count_; ++i) widest = std::max(widest, width_of(mono, text(i, decimals)));
      for (const float part : sizes) {
        const float size = std::round(part * mono->FontSize);
        if (size < least_pixels) break;
        const bool fits = widest * size / mono->FontSize <= room.width && size <= room.height + 1.0;
        if (fits) return {decimals, size};
      }
    }
    return {};
  }
  template <class Text, class Ink>
  bool write(const PlaneGeometry& plane, std::initializer_list<int> decimals_to_try, const Text& text,
             const Ink& ink, const char* probe) const {
    const NumberStyle style = style_for(plane, decimals_to_try, text);
    if (style.size <= 0.0f) return false;
    ImFont* mono = context_.fonts.mono_small;
    for (Index i = 0; i < count_; ++i) {
      const std::string number = text(i, style.decimals);
      paint_.text_beside({mono, style.size}, Box(cell(plane, i)).middle(), ink(i), number, Align::middle);
    }
    ui_probe(probe, plane);
    return true;
  }

  void maximum(const RectF& rect) const {
    HeatmapSpec spec = scores_.spec;
    spec.mask.reset();
    spec.values = matrix_view(figures_.maximum);
    if (across_) spec.values = spec.values.transposed();
    const PlaneGeometry plane = plane_of(rect);
    draw_heatmap_plane(paint_.list, context_.heatmaps, spec, corner(plane), far_corner(plane));
    const auto value = [&](Index i) { return figures_.maximum->flat(i); };
    const ColorTable& table = color_table(spec.color_map, spec.theme);
    write(
        plane, {cell_decimals(spec.range), fewer_cell_decimals(spec.range)},
        [&](Index i, int decimals) {
          return std::isfinite(value(i)) ? cell_number(value(i), decimals, false) : std::string();
        },
        [&](Index i) { return ink_on(color_at(value(i), spec.range, table)); }, "stage/softmax/max");
    caption(rect, "max");
  }

  void sums(const RectF& rect) const {
    caption(rect, "Σ exp");
    const PlaneGeometry plane = plane_of(rect);
    const auto sum = [&](Index i) { return figures_.exp_sum[static_cast<std::size_t>(i)]; };
    const bool written = write(
        plane, {2, 1, 0}, [&](Index i, int decimals) { return decimal_text(sum(i), decimals); },
        [&](Index) { return context_.palette.text; }, "stage/softmax/sum");
    if (written) return;
    // A bar for each, as long as its share of the largest possible sum: one for every key.
    const Index keys = across_ ? scores_.matrix.view.rows : scores_.matrix.view.cols;
    for (Index i = 0; i < count_; ++i) {
      if (!std::isfinite(sum(i))) continue;
      const RectF box = cell(plane, i);
      const double share = std::clamp(sum(i) / static_cast<double>(std::max<Index>(keys, 1)), 0.0, 1.0);
      const double width = across_ ? box.width : share * box.width;
      const double top = across_ ? box.y + (1.0 - share) * box.height : box.y;
      paint_.fill({float(box.x), float(top)}, {float(box.x + width), float(box.y + box.height)},
                  context_.palette.bar);
    }
  }

  const PanelContext& context_;
  const SoftmaxFigures& figures_;
  const StagePart& scores_;
  Painter paint_;
  bool across_ = false;
  std::vector<RectF> rects_;
  Index count_ = 0;
};

}  // namespace

double least_figure_row(const PanelContext& context) {
  return std::max(sizes.back() * context.fonts.mono_small->FontSize, least_pixels);
}

int softmax_figure_count(const PanelContext& context, Index queries, double length) {
  return static_cast<double>(queries) * least_figure_row(context) < length * 0.6 ? 2 : 1;
}

void draw_softmax_figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
                          const StageLayout& layout) {
  if (figures.exp_sum.empty() || (layout.row_figures.empty() && layout.col_figures.empty())) return;
  Figures(context, figures, scores, layout).draw();
}

}  // namespace headwise
