#include "app/stage/views.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>

#include "app/session/gradients.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/rules.h"
#include "core/attention/trace_warnings.h"

namespace headwise {
namespace {

constexpr std::size_t most_ranges = 8;  // more than are on the stage at once

StagePart as_stored(const StagePart& part) {
  // A map of queries and keys is transposed because the user chose so.
  if (!part.matrix.transposed || is_pair_map(part.matrix)) return part;
  StagePart stored = part;
  stored.matrix.transposed = false;
  stored.matrix.view = part.matrix.view.transposed();
  std::swap(stored.matrix.row_axis, stored.matrix.col_axis);
  std::swap(stored.row_labels, stored.col_labels);
  std::swap(stored.row_block, stored.col_block);
  stored.spec.values = stored.matrix.view;
  if (stored.spec.mask) stored.spec.mask = stored.spec.mask->transposed();
  return stored;
}

// "grad.scores, this head": the colours of a gradient apply to the current map only.
std::string range_caption(const Trace& trace, const StageMatrix& matrix) {
  const std::string name = to_string(matrix.name);
  if (head_count(trace, matrix.name) > 1) return name + ", this head";
  return matrix.view.tensor->shape().rank() > 2 ? name : matrix_name(matrix);
}

std::optional<StagePart> gradient_of(const Trace& trace, const StagePart& value, GradientRanges& ranges) {
  const TensorPtr gradient = trace.tensor({value.matrix.name.id, true});
  if (!gradient) return std::nullopt;
  StagePart part = value;
  part.matrix.name.gradient = true;
  part.matrix.view.tensor = gradient;  // a gradient has the shape of its tensor
  part.spec.values = part.matrix.view;
  part.spec.color_map = ColorMap::blue_orange;
  part.spec.range = ranges.of(part.matrix.view);
  set_mask(trace, part);
  part.spec.range_note = range_caption(trace, part.matrix);
  return part;
}

// Marks the same cell on the other of the two planes too.
void mark_twin(const PanelContext& context, std::vector<StageMark>& marks) {
  std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell) return;
  cell->tensor.gradient = !cell->tensor.gradient;
  marks.push_back({box_of(*cell), MarkKind::pinned});
}

// "loss: | Σ output | first cell | random | loss = Σ output": draws the line above the planes, returns its
// height.
float draw_loss_choice(const PanelContext& context, PanelAction& action, ImVec2 at, float width) {
  constexpr auto names = loss_names;
  const TensorPtr& given = context.inputs.grad_output;
  constexpr std::array<std::string_view, 4> short_names{"Σ", "first", "±", "given"};
  const std::size_t count = given ? 4 : 3;
  const bool fits = segmented_control_size(context, std::span(names).first(count)).x <= width;
  const std::span choices = std::span(fits ? names : short_names).first(count);
  ImFont* sans = context.fonts.sans;
  const ImVec2 size = segmented_control_size(context, choices);
  const float end = at.x + width;
  const float y = context.picture ? at.y : std::round(at.y + 0.5f * (size.y - sans->FontSize));
  const auto write = [&](const std::string& text) {
    const std::string fitted = fitted_text(text, sans, std::max(0.0f, end - at.x));
    at.x = context.painter().text(sans, {at.x, y}, context.palette.text_dim, fitted).max.x + 8 * context.scale;
  };
  if (context.picture) {  // nothing to choose: what was chosen
    write(loss_text(resolved_loss(context.selection.loss, context.trace, given), context.trace));
    return sans->FontSize;
  }
  if (size.x + 60 * context.scale < width) write("loss");
  ImGui::SetCursorScreenPos(at);
  const Loss loss = resolved_loss(context.selection.loss, context.trace, given);
  int chosen = static_cast<int>(loss);
  if (stage_choice(context, "loss", choices, chosen, end - at.x)) {
    action.selection = context.selection;
    action.selection->loss = static_cast<Loss>(chosen);
  }
  tooltip(context, "the scalar that is differentiated: d(loss)/d(each cell)");
  at.x = ImGui::GetItemRectMax().x + 12 * context.scale;
  if (at.x < end) write(loss_text(loss, context.trace));
  return size.y;
}

// "grad.k_heads, this head": if that is too long, the name alone.
std::string short_caption(const PanelContext& context, const std::string& caption, float room) {
  const bool fits = width_of(context.fonts.small, caption) <= room;
  return fits ? caption : caption.substr(0, caption.find(','));
}

struct DrawnGradients {
  std::string name;  // "stage/result", "stage/grad/result"
  const StagePart* part;
  PlaneGeometry plane;
  RectF bar;
  bool gradient, col_labels, slanted;
  float room;            // for title and caption, to the right
  float bar_end = 0.0f;  // of the words of its colour bar
};

std::vector<DrawnGradients> planes_of(const std::vector<GradientPair>& pairs, const GradientLayout& layout,
                                      const RectF& area, double scale, double label_room) {
  std::vector<DrawnGradients> planes;
  for (std::size_t i = 0; i < layout.pairs.size(); ++i) {
    const GradientPair& pair = pairs[i];
    const PairPlace& place = layout.pairs[i];
    const auto add = [&](const std::string& name, const StagePart& part, const RectF& rect, const RectF& bar,
                         double end) {
      planes.push_back({name, &part, plane_geometry(rect, part.matrix.view.rows, part.matrix.view.cols), bar,
                        part.matrix.name.gradient, place.col_labels, place.slanted,
                        float(end - rect.x - 8 * scale)});
    };
    // The first pair has a line of its own.
    const bool last = i == 0 || i + 1 == layout.pairs.size();
    add("stage/" + pair.place, pair.value, place.value, place.value_bar, place.gradient.x);
    if (pair.gradient)
      add("stage/grad/" + pair.place, *pair.gradient, place.gradient, place.gradient_bar,
          last ? area.x + area.width + 8 * scale : layout.pairs[i + 1].value.x - label_room);
  }
  return planes;
}

// Of the result and its gradient, beside the first of their bars that has room for it.
void draw_gradient_legend(const PanelContext& context, CellLegend& legend,
                          const std::vector<DrawnGradients>& drawn, float right) {
  std::vector<const HeatmapSpec*> specs;
  for (std::size_t i = 0; i < drawn.size() && i < 2; ++i) specs.push_back(&drawn[i].part->spec);
  legend.update(specs);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const RectF& bar = drawn[i].bar;
    const float end = i + 1 < drawn.size() && drawn[i + 1].bar.x > bar.x
                          ? float(drawn[i + 1].bar.x) - 8.0f * context.scale
                          : right;
    if (bar.height > 0 && draw_legend_beside(context, legend, bar, drawn[i].bar_end, end)) return;
  }
}

}  // namespace

ValueRange GradientRanges::of(const MatrixView& view) {
  MatrixView place = view;
  place.tensor.reset();
  const auto same = [&](const Entry& e) {
    return e.tensor.lock() == view.tensor && e.place.offset == place.offset && e.place.rows == place.rows &&
           e.place.cols == place.cols;
  };
  if (const auto found = std::ranges::find_if(entries_, same); found != entries_.end()) return found->range;
  if (entries_.size() >= most_ranges) entries_.erase(entries_.begin());
  entries_.push_back({view.tensor, place, range_of(std::span(&view, 1), true, false)});
  return entries_.back().range;
}

std::vector<GradientPair> gradient_pairs(const Trace& trace, const StageContent& content,
                                         GradientRanges& ranges) {
  std::vector<GradientPair> pairs;
  const auto add = [&](const char* place, const std::optional<StagePart>& part) {
    if (!part || part->matrix.view.tensor->size() == 0) return;
    GradientPair pair{place, as_stored(*part), {}, ""};
    pair.gradient = gradient_of(trace, pair.value, ranges);
    if (!pair.gradient) pair.absent = why_absent(trace, {part->matrix.name.id, true});
    pairs.push_back(std::move(pair));
  };
  add("result", content.result);
  add("left", content.left);
  add("above", content.above);
  return pairs;
}

PanelAction draw_gradients(const PanelContext& context, GradientsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const float line = draw_loss_choice(context, action, {float(area.x), float(area.y)}, float(area.width));
  const double used = line + 8 * context.scale;
  area.y += used;
  area.height = std::max(0.0, area.height - used);
  if (!has_backward_pass(context.trace)) {
    draw_stage_sentence(context, std::string(context.gradients_refusal), area);
    return action;
  }
  const std::vector<GradientPair> pairs = gradient_pairs(context.trace, content, state.ranges);
  std::vector<LabelledShape> shapes;
  for (const GradientPair& pair : pairs) shapes.push_back(labelled_shape(context, pair.value));
  const GradientLayout layout = gradient_layout(shapes, area, context.scale);
  if (layout.pairs.empty()) {
    draw_stage_sentence(context, "make the window larger to see the gradients", area);
    return action;
  }
  // Above the next pair's labels: whose they are.
  const double label_room = static_cast<double>(width_of(context.fonts.small, "query ↓")) + 8 * context.scale;
  std::vector<DrawnGradients> drawn = planes_of(pairs, layout, area, context.scale, label_room);
  std::vector<StageMark> marks = stage_marks(context.trace, context.selection, context.pointed, context.reach);
  mark_twin(context, marks);

  const Painter paint = context.painter();
  std::vector<HeatmapPlane> planes;
  for (const DrawnGradients& each : drawn)
    planes.push_back({&each.part->spec, corner(each.plane), far_corner(each.plane)});
  draw_heatmap_planes(paint.list, context.heatmaps, planes);
  std::optional<Index> head;
  for (DrawnGradients& each : drawn) {
    ui_probe(each.name, each.plane);
    draw_part_overlay(context, *each.part, each.plane, marks);
    draw_part_title(context, *each.part, each.plane, each.room);
    if (!each.gradient)
      draw_part_row_labels(context, *each.part, each.plane, marked_row(each.part->matrix, marks));
    if (each.col_labels) {
      const auto clicked = draw_part_column_labels(context, *each.part, each.plane, marks, each.slanted);
      if (clicked) head = clicked;
    }
    if (const auto cell = pointed_cell(context, each.name, *each.part, each.plane)) under_mouse = cell;
    if (each.bar.height > 0) {
      const HeatmapSpec& spec = each.part->spec;
      each.bar_end = draw_color_bar(paint, each.bar, spec.color_map, context.theme, spec.range,
                                    short_caption(context, spec.range_note, each.room), each.room);
    }
  }
  draw_gradient_legend(context, state.legend, drawn, float(area.x + area.width));
  for (std::size_t i = 0; i < layout.pairs.size(); ++i)
    if (!pairs[i].gradient) draw_stage_sentence(context, pairs[i].absent, layout.pairs[i].gradient);
  if (head) action.selection = looking_at_head(context, *head);
  return action;
}

}  // namespace headwise
