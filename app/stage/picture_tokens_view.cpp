// The tokens view of a picture: its patches as queries and as keys, and where the patch that is pointed at
// looks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/content/stage_matrix.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/stage/views.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/patch_picture.h"
#include "app/widgets/text_column.h"
#include "app/widgets/ui_probe.h"
#include "core/export/heatmap.h"
#include "core/export/number_text.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

constexpr double patches_strip_units = 92.0, patches_thumbnail_units = 56.0;
constexpr float inspected_picture_units = 230.0f, compact_picture_units = 150.0f;

// The position along the first axis for which `is_wanted` of the focused cell.
template <class F>
std::optional<Index> focused_token(const PanelContext& context, Index tokens, F is_wanted) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  const TensorPtr tensor = cell ? context.trace.tensor(cell->tensor) : nullptr;
  for (Index axis = 0; tensor && axis < tensor->shape().rank(); ++axis) {
    const Index at = cell->index[static_cast<std::size_t>(axis)];
    if (is_wanted(tensor->shape().axes()[static_cast<std::size_t>(axis)].name) && at < tokens) return at;
  }
  return std::nullopt;
}

std::optional<Index> focused_query(const PanelContext& context, Index tokens) {
  return focused_token(context, tokens, [](const std::string& axis) { return axis == "L"; });
}

std::optional<Index> focused_key(const PanelContext& context, Index tokens) {
  return focused_token(context, tokens, [](const std::string& axis) { return is_key_axis(axis); });
}

// One query's weights, those of keys that are no tokens of the picture left out.
std::vector<double> weights_of(const MatrixView& view, Index query, Index tokens) {
  std::vector<double> weights;
  for (Index j = 0; j < std::min(tokens, view.cols) && query < view.rows; ++j)
    weights.push_back(view.value(query, j));
  return weights;
}

Index strongest_of(const std::vector<double>& weights) {
  return std::ranges::max_element(weights) - weights.begin();
}

// "r3 c4 → r2 c4 0.31 · to [CLS] 0.12"
std::string weights_sentence(const PanelContext& context, const std::vector<double>& weights, Index query,
                             std::optional<Index> key, Index first_tokens) {
  const std::vector<std::string>& labels = context.inputs.labels.key;
  const auto weight = [&](Index j) { return cell_number(weights[static_cast<std::size_t>(j)], 2, true); };
  const Index shown = key && *key < std::ssize(weights) ? *key : strongest_of(weights);
  std::string text = fmt::format("{} → {} {}{}", token_at(context.inputs.labels.query, query, "q"),
                                 token_at(labels, shown, "k"), weight(shown), key ? "" : ", the strongest");
  for (Index i = 0; i < first_tokens && i < std::ssize(weights); ++i)
    if (i != shown) text += fmt::format(" · to {} {}", token_at(labels, i, "k"), weight(i));
  return text;
}

void outline_token(const PanelContext& context, const PatchPlane& plane, Index token, Rgba8 color) {
  const float thick = context.hairline(2.0f);
  const Painter paint = context.painter();
  paint.outline(plane.box(token).grown(thick), context.palette.panel, context.hairline(1.0f));
  paint.outline(plane.box(token), color, thick);
}

}  // namespace

std::shared_ptr<const ModelPicture> picture_of(const ScenarioInputs& inputs) {
  return inputs.model_input ? inputs.model_input->text.picture : nullptr;
}

PanelAction draw_picture_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                                RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const std::shared_ptr<const ModelPicture> picture = picture_of(context.inputs);
  const StageMatrix& matrix = weights.result->matrix;
  const double u = context.scale, strip = patches_strip_units * u;
  if (weights.head_map && area.height > 3.2 * strip) {
    action = draw_heads_strip(context, weights, {area.x, area.y, area.width, strip},
                              patches_thumbnail_units * u, state.head_ranges, state.head_names.of(context));
    area.y += strip + 6.0 * u;
    area.height -= strip + 6.0 * u;
  }
  ImFont* bold = context.fonts.bold;
  ImFont* font = context.presentation ? context.fonts.caption : context.fonts.sans;
  const double line = 1.5 * static_cast<double>(font->FontSize), gap = 28.0 * u;
  const bool beside = area.width >= area.height;
  const double width = beside ? (area.width - gap) / 2 : area.width;
  const double height = (beside ? area.height : (area.height - gap) / 2) - 2.2 * line;
  if (width < 40.0 * u || height < 40.0 * u) {
    draw_stage_sentence(context, "make the window larger to see the picture", area);
    return action;
  }
  const auto plane_at = [&](double x, double y) {
    return patch_plane(picture->grid, {x, y + line, width, height}, float(line));
  };
  const PatchPlane queries = plane_at(area.x, area.y);
  // Beside the picture itself, not at the middle of the stage.
  const double step = queries.place.width + gap;
  const PatchPlane keys = beside ? plane_at(area.x + step, area.y)
                                 : plane_at(area.x, queries.place.y + queries.place.height + gap);
  const Index tokens = std::min(queries.tokens(), matrix.view.rows);

  const auto reached = [&](const char* name, const PatchPlane& plane) {
    return line_reached(context, name, plane.place, tokens);
  };
  std::optional<Index> query = reached("queries", queries), key = reached("keys", keys);
  if (!keys_decide(context) && ImGui::IsWindowHovered()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    query = queries.token_at(mouse);
    key = keys.token_at(mouse);
  }
  const Index focused = query.value_or(focused_query(context, tokens).value_or(0));
  const std::vector<double> row = weights_of(matrix.view, focused, queries.tokens());
  if (query)
    under_mouse = cell_at(matrix, *query, strongest_of(row));
  else if (key)
    under_mouse = cell_at(matrix, focused, *key);

  const Painter paint = context.painter();
  const auto caption = [&](const PatchPlane& plane, const std::string& text, Rgba8 color, const char* probe) {
    const float top = plane.first.empty() ? float(plane.place.y) : plane.first[0].min.y;
    const ImVec2 at{float(plane.place.x), top - float(line)};
    const double room = std::max(plane.place.width, beside ? 0.0 : area.width);
    ui_probe(probe, paint.text_within(float(room), bold, at, color, text));
  };
  caption(queries, "queries: point at a patch", context.palette.q, "patches/queries");
  caption(keys,
          fmt::format("keys: where {} looks, head {}", token_at(context.inputs.labels.query, focused, "q"),
                      context.selection.head),
          context.palette.k, "patches/keys");
  const std::vector<std::string>& labels = context.inputs.labels.query;
  draw_patches(paint, context.heatmaps, picture, queries, labels);
  draw_patches(paint, context.heatmaps, picture, keys, labels, row);
  outline_token(context, queries, focused, context.palette.q);
  outline_token(context, keys, focused, context.palette.q);
  if (key) outline_token(context, keys, *key, context.palette.k);
  if (!row.empty()) {
    const ImVec2 at{float(keys.place.x), float(keys.place.y + keys.place.height + 0.3 * line)};
    const std::string told =
        weights_sentence(context, row, focused, key, picture->grid.first_tokens) + " · faded: little weight";
    ui_probe("patches/weights",
             paint.text_within(float(area.x + area.width) - at.x, font, at, context.palette.text, told));
  }
  ui_probe("stage/queries", Box(queries.place));
  ui_probe("stage/keys", Box(keys.place));
  return action;
}

void draw_inspected_picture(const PanelContext& context, TextColumn& column, bool compact) {
  const std::shared_ptr<const ModelPicture> picture = picture_of(context.inputs);
  if (!picture) return;
  const bool at_inputs = context.selection.step == Step::inputs;
  const bool on_stage = context.selection.view == StageView::tokens;
  const bool veiled = context.veil && context.veil->hides({TensorId::attn_weights});
  if (on_stage && !at_inputs) return;  // it is there, and larger
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Index tokens = picture->grid.tokens();
  const std::optional<Index> query = focused_query(context, tokens), key = focused_key(context, tokens);
  std::vector<double> row;
  const Index shown = query.value_or(0);
  const bool has_row = !at_inputs && !veiled && weights && weights->shape().rank() == 4;
  const Selection& at = context.selection;
  if (has_row && at.batch < weights->shape().size(0) && at.head < weights->shape().size(1)) {
    const std::array leading{at.batch, at.head};
    row = weights_of(matrix_view(weights, leading), shown, tokens);
  }
  column.heading(row.empty() ? "THE PICTURE" : fmt::format("THE PICTURE, HEAD {}", at.head));
  const double side =
      std::min(column.width(), context.px(compact ? compact_picture_units : inspected_picture_units));
  const auto line = double(1.4f * context.fonts.small->FontSize);
  const ImVec2 from = column.cursor();
  const PatchPlane plane = patch_plane(picture->grid, {from.x, from.y, side, side + 1.3 * line}, float(line));
  draw_patches(context.painter(), context.heatmaps, picture, plane, context.inputs.labels.query, row);
  if (query || !row.empty()) outline_token(context, plane, shown, context.palette.q);
  if (key && key != query) outline_token(context, plane, *key, context.palette.k);
  column.skip(float(plane.place.y + plane.place.height) - from.y + context.px(6));
  if (!row.empty())
    column.paragraph(weights_sentence(context, row, shown, key, picture->grid.first_tokens),
                     context.palette.text_dim);
  else
    column.paragraph(
        fmt::format("{} patches of {} × {} pixels, each a token, after {}. r1 c2: row 1, column 2.",
                    tokens - picture->grid.first_tokens, picture->grid.patch_width, picture->grid.patch_height,
                    picture->grid.first_tokens == 1 ? "[CLS]" : "[CLS] and [DIST]"),
        context.palette.text_dim);
  column.space(12);
}

}  // namespace headwise
