#include "app/stage/views.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/panels/named_text.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/score_scale.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

using Id = TensorId;

// One number per key, after the products: what the sum becomes on its way to a weight.
struct Figure {
  Id id;
  std::string caption;
  RectF rect;
};

constexpr float least_digits = 0.6f;  // of the type's usual size

std::vector<Figure> figures_of(const PanelContext& context) {
  const TraceTensors& t = context.trace.tensors;
  const AttentionOptions& o = context.trace.options;
  std::vector<Figure> figures{{Id::scores, "Σ = q·k", {}}};
  figures.push_back({Id::scaled_scores, is_default_scale(o) ? "÷ √D" : "scaled", {}});
  if (t.mask_bias) figures.push_back({Id::masked_scores, "masked", {}});
  figures.push_back({Id::attn_weights, "softmax", {}});
  return figures;
}

class ElementwiseView {
 public:
  ElementwiseView(const PanelContext& context, const StageContent& scores, RectF area, double top, Index query)
      : context_(context), q_(*scores.left), k_(*scores.above), area_(area), top_(top), query_(query) {
    place();
  }

  // Wide enough for both planes and all figures.
  bool fits() const { return fits_; }

  void draw(const TensorPtr& products, std::optional<CellRef>& under_mouse) const {
    const Painter paint = context_.painter();
    HeatmapSpec keys_spec = k_.spec;
    keys_spec.mask.reset();
    keys_spec.values = keys();
    HeatmapSpec product_spec = keys_spec;
    product_spec.values = matrix_view(products);
    const MatrixView product_view = product_spec.values;
    product_spec.range = range_of(std::span(&product_view, 1), true, false);
    draw_heatmap_plane(paint.list, context_.heatmaps, keys_spec, corner(keys_), far_corner(keys_));
    draw_heatmap_plane(paint.list, context_.heatmaps, product_spec, corner(products_), far_corner(products_));
    draw_cell_digits(paint, keys_, keys_spec, false, 5.0f);
    draw_cell_digits(paint, products_, product_spec, false, 5.0f);
    draw_strip();
    if (!context_.inputs.labels.key.empty())
      draw_row_labels(paint, keys_, context_.inputs.labels.key, std::nullopt);
    ImFont* mono = title_font();
    // In a hall, and where it has no room, few words. Followed by the sizes if there is room; the name lights
    // up the tensor, the letters their axes.
    const auto title = [&](const PlaneGeometry& over, const char* few, const std::string& all, Rgba8 color,
                           const std::string& shape = "", std::optional<Id> tensor = {}) {
      const ImVec2 at(float(over.x), float(over.y) - mono->FontSize - 5);
      const bool whole = !context_.presentation && width_of(mono, all) <= float(over.width);
      const std::string text = whole ? all : few;
      const float end = paint.text_within(float(over.width), mono, at, color, text).max.x;
      ui_text_probe(text, at);
      if (tensor) name_tensor(context_, {*tensor}, {at.x, at.y - 1}, {end, at.y + mono->FontSize + 2});
      const float gap = 7.0f * context_.scale;
      if (!shape.empty() && end + gap + width_of(mono, shape) <= float(over.x + over.width))
        draw_shape_text(context_, mono, {std::floor(end + gap), at.y}, context_.palette.text_dim, shape);
    };
    const Palette& palette = context_.palette;
    const std::string key_axis = k_.matrix.col_axis;
    const std::string keys_shape = fmt::format("{}×D {}×{}", key_axis, key_count(), keys().cols);
    title(strip_, "q", fmt::format("q: row {} of {}", query_, name_on_stage(context_, q_.matrix)), palette.q,
          fmt::format("D {}", keys().cols), q_.matrix.name.id);
    title(strip_again_, "q, repeated", "same q, repeated", palette.q, "", q_.matrix.name.id);
    title(keys_, "k of each key", "k: every key's row", palette.k, keys_shape, k_.matrix.name.id);
    title(products_, "q ∘ k", "q ∘ k: elementwise product", palette.text, keys_shape);

    if (const auto hit = pointed_plane_cell(context_, "query", strip_))
      under_mouse = cell_at(q_.matrix, query_, hit->second);
    if (const auto hit = pointed_plane_cell(context_, "keys", keys_))
      under_mouse = cell_at(k_.matrix, hit->second, hit->first);
    if (const auto hit = pointed_plane_cell(context_, "products", products_))
      under_mouse = cell(Id::scores, hit->first);
    ui_probe("stage/keys", keys_);
    ui_probe("stage/products", products_);
    draw_figures(under_mouse);
    draw_light(products);

    const double u = context_.scale, y = area_.y + area_.height - 26 * u;
    const auto bar = [&](double x, const HeatmapSpec& spec, const std::string& caption) {
      draw_color_bar(paint, {x, y, 150 * u, 8 * u}, spec.color_map, context_.theme, spec.range, caption,
                     float(products_.x - keys_.x));
    };
    bar(area_.x, keys_spec, "q and k, all heads");
    bar(area_.x + 190 * u, product_spec, "q ∘ k, this query");
  }

 private:
  void place() {
    const double u = context_.scale;
    const Index rows = std::max<Index>(key_count(), 1), width = std::max<Index>(keys().cols, 1);
    const double labels = context_.inputs.labels.key.empty()
                              ? 0.0
                              : label_width(context_, context_.inputs.labels.key, rows) + 10 * u;
    figures_ = figures_of(context_);
    const double figure = (context_.presentation ? 76 : 62) * u, gap = 26 * u;
    const double room = area_.width - labels - 2 * gap - figure * static_cast<double>(figures_.size());
    fits_ = room >= 80 * u;
    const double plane = std::max(40 * u, std::min(room / 2, 26 * u * static_cast<double>(width)));
    const double strip_height = 22 * u, title = 22 * u;
    const double y = top_ + title + strip_height + title;
    const double height =
        std::max(10 * u, std::min(area_.y + area_.height - y - 46 * u, 40 * u * static_cast<double>(rows)));
    const double x = area_.x + labels;
    strip_ = plane_geometry({x, top_ + title, plane, strip_height}, 1, width);
    strip_again_ = plane_geometry({x + plane + gap, top_ + title, plane, strip_height}, 1, width);
    keys_ = plane_geometry({x, y, plane, height}, rows, width);
    products_ = plane_geometry({x + plane + gap, y, plane, height}, rows, width);
    double at = x + 2 * plane + 2 * gap;
    for (Figure& each : figures_) {
      each.rect = {at, y, figure, height};
      at += figure;
    }
  }

  // The query's row, above the keys and again above the products: it is the same for every line.
  void draw_strip() const {
    HeatmapSpec spec = q_.spec;
    spec.mask.reset();
    spec.values.offset = q_.matrix.view.flat(query_, 0);
    spec.values.rows = 1;
    const Painter paint = context_.painter();
    draw_heatmap_plane(paint.list, context_.heatmaps, spec, corner(strip_), far_corner(strip_));
    draw_heatmap_plane(paint.list, context_.heatmaps, spec, corner(strip_again_), far_corner(strip_again_));
    for (const PlaneGeometry* plane : {&strip_, &strip_again_}) {
      draw_cell_digits(paint, *plane, spec, false);
      paint.outline(*plane, context_.palette.q, context_.scale);
    }
  }

  void draw_figures(std::optional<CellRef>& under_mouse) const {
    const Painter paint = context_.painter();
    ImFont* mono = figure_font();
    ImFont* small = context_.presentation ? context_.fonts.sans : context_.fonts.small;
    for (const Figure& figure : figures_) {
      const PlaneGeometry rows = plane_geometry(figure.rect, key_count(), 1);
      const auto right = float(figure.rect.x + figure.rect.width);
      const TensorPtr tensor = context_.trace.tensor(figure.id);
      // As small as the rows are, while that can be read; else only the bars are left.
      const Type type{mono, std::floor(std::min(mono->FontSize, float(rows.height) / float(rows.rows)))};
      const bool digits = type.size >= least_digits * mono->FontSize;
      if (!digits && figure.id != Id::attn_weights) continue;
      const Box caption = paint.text(small, {right, float(figure.rect.y) - small->FontSize - 5},
                                     context_.palette.text_dim, figure.caption, Align::right);
      name_tensor(context_, {figure.id}, {caption.min.x, caption.min.y - 1}, {right, caption.max.y + 3});
      for (Index key = 0; key < key_count(); ++key) {
        const double value = tensor->at(cell(figure.id, key).index);
        const RectF box = rows.cell(key, 0);
        if (figure.id == Id::attn_weights && std::isfinite(value)) {
          const auto length = float((box.width - 8 * context_.scale) * std::clamp(value, 0.0, 1.0));
          const float y = float(box.y), bottom = float(box.y + box.height);
          paint.fill({right - length, y + 1}, {right, bottom - 1}, {context_.palette.bar, 0.45f});
        }
        if (!digits) continue;
        const bool crossed = is_blocked(figure.id, key);
        paint.text_beside(type, {right - 2 * context_.scale, Box(box).middle().y},
                          crossed ? context_.palette.text_dim : context_.palette.text,
                          figure_text(figure, key), Align::right);
        if (crossed) ui_text_probe("×", corner(box));
      }
      if (const auto hit = pointed_plane_cell(context_, figure.caption, rows))
        under_mouse = cell(figure.id, hit->first);
      ui_probe(fmt::format("stage/figure/{}", tensor_entry(figure.id).name), rows);
    }
  }

  // What is focused and what is pointed at by name, and the axis of a letter, on every matrix of this view.
  // Only one query is shown: it takes the place that N and H have in other matrices.
  void draw_light(const TensorPtr& products) const {
    const std::vector<StageMark> marks =
        stage_marks(context_.trace, context_.selection, context_.pointed, context_.reach);
    const StagePart keys = part_of(k_.matrix.name.id);
    outline(keys, keys_, marks);
    draw_axis_light(context_, keys, keys_);
    StagePart query = part_of(q_.matrix.name.id, query_, query_ + 1);
    for (const PlaneGeometry* strip : {&strip_, &strip_again_}) outline(query, *strip, marks);
    query.matrix.row_axis.clear();
    query.matrix.leading.push_back(query_);
    for (const PlaneGeometry* strip : {&strip_, &strip_again_}) draw_axis_light(context_, query, *strip);
    StagePart product = keys;
    product.matrix.view = matrix_view(products);
    product.matrix.leading.clear();
    draw_axis_light(context_, product, products_);
    for (const Figure& figure : figures_) {
      StagePart column = part_of(figure.id, query_, query_ + 1);
      std::swap(column.matrix.row_axis, column.matrix.col_axis);
      column.matrix.view = column.matrix.view.transposed();
      column.matrix.transposed = true;
      const PlaneGeometry plane = plane_geometry(figure.rect, key_count(), 1);
      outline(column, plane, marks);
      column.matrix.col_axis.clear();
      column.matrix.leading.push_back(query_);
      draw_axis_light(context_, column, plane);
    }
  }

  // Of the numbers beside the products, and of the words above the columns;
  // in a hall as large as there is room.
  ImFont* figure_font() const {
    const Fonts& fonts = context_.fonts;
    if (!context_.presentation || figures_.empty()) return fonts.mono_small;
    const double pitch = figures_.front().rect.height / static_cast<double>(std::max<Index>(key_count(), 1));
    for (ImFont* font : {fonts.formula, fonts.caption, fonts.sans}) {
      if (font->FontSize + 2.0f * context_.scale > pitch) continue;
      float widest = 0.0f;
      for (const Figure& figure : figures_)
        for (Index key = 0; key < key_count(); ++key)
          widest = std::max(widest, width_of(font, figure_text(figure, key)));
      if (widest + 8.0f * context_.scale <= figures_.front().rect.width) return font;
    }
    return fonts.mono_small;
  }

  std::string figure_text(const Figure& figure, Index key) const {
    const double value = context_.trace.tensor(figure.id)->at(cell(figure.id, key).index);
    return is_blocked(figure.id, key)      ? "×"
           : figure.id == Id::attn_weights ? cell_number(value, 3, true)
                                           : decimal_text(value, 2);
  }

  ImFont* title_font() const {
    return context_.presentation ? context_.fonts.sans : context_.fonts.mono_small;
  }

  // A matrix of the selected head, as stored.
  StagePart part_of(Id id, Index row_begin = 0, Index row_end = 0) const {
    const StagePlace place{context_.selection.batch, context_.selection.head};
    return {
        *stage_matrix(context_.trace, {id}, place, false, row_begin, row_end), {}, 0, nullptr, nullptr, 0, 0};
  }

  void outline(const StagePart& part, const PlaneGeometry& plane, const std::vector<StageMark>& marks) const {
    const float thick = std::max(2.0f, std::round(2.0f * context_.palette.stroke * context_.scale));
    for (const StageMark& mark : marks) {
      const auto box = drawn_box(part.matrix, mark.box);
      if (!box) continue;
      const bool own =
          mark.kind == MarkKind::cell || mark.kind == MarkKind::pinned || mark.kind == MarkKind::pointed;
      const Rgba8 color = own ? context_.palette.focus : tensor_hue(context_.palette, part.matrix.name.id);
      draw_box_outline(context_.painter(), plane, *box,
                       im_color(color, mark.kind == MarkKind::consumer ? 0.6f : 1.0f), thick);
    }
  }

  MatrixView keys() const { return k_.matrix.view.transposed(); }  // on the stage k is drawn as kᵀ
  Index key_count() const { return keys().rows; }

  // Whether the mask blocks this key and the number says no more than that, as on the maps.
  bool is_blocked(Id id, Index key) const {
    StagePart part = part_of(id);
    part.spec.values = part.matrix.view;
    set_mask(context_.trace, part);
    return cell_kind(part.spec, query_, key) == CellKind::blocked;
  }

  CellRef cell(Id id, Index key) const {
    return {{id}, {context_.selection.batch, context_.selection.head, query_, key}};
  }

  const PanelContext& context_;
  const StagePart& q_;
  const StagePart& k_;
  RectF area_;
  double top_;
  Index query_;
  PlaneGeometry strip_, strip_again_, keys_, products_;
  std::vector<Figure> figures_;
  bool fits_ = true;
};

}  // namespace

bool has_elementwise_view(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  return t.q_heads && t.k_heads && t.scores && t.scaled_scores && t.attn_weights && t.scores->size() > 0 &&
         t.k_heads->size() > 0;
}

TensorPtr elementwise_products(const MatrixView& q, Index query, const MatrixView& k) {
  Tensor products(Shape{{"S", k.rows}, {"D", k.cols}}, DType::f64);
  for (Index key = 0; key < k.rows; ++key)
    for (Index d = 0; d < k.cols; ++d)
      products.set_flat(key * k.cols + d, q.value(query, d) * k.value(key, d));
  return std::make_shared<const Tensor>(std::move(products));
}

PanelAction draw_elementwise(const PanelContext& context, ElementwiseState& state, const StageContent& scores,
                             RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const MatrixView& q = scores.left->matrix.view;
  const MatrixView k = scores.above->matrix.view.transposed();
  const Index query = shown_query(context, state.query, q.rows);
  const float height =
      draw_query_choice(context, state.query, query, q.rows, action, {float(area.x), float(area.y)}).y;
  if (state.products_of_q.lock() != q.tensor || state.products_of_k.lock() != k.tensor ||
      state.products_q_offset != q.flat(query, 0) || state.products_k_offset != k.offset || !state.products) {
    state.products = elementwise_products(q, query, k);
    state.products_of_q = q.tensor;
    state.products_of_k = k.tensor;
    state.products_q_offset = q.flat(query, 0);
    state.products_k_offset = k.offset;
  }
  const ElementwiseView view(context, scores, area, area.y + height + 8 * context.scale, query);
  if (view.fits()) {
    view.draw(state.products, under_mouse);
  } else {
    draw_stage_sentence(context, "make the window wider to see q ∘ k", area);
  }
  return action;
}

}  // namespace headwise
