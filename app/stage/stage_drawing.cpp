#include "app/stage/stage_drawing.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/content/followed_token.h"
#include "app/content/stage_layout.h"
#include "app/panels/named_text.h"
#include "app/session/head_gains.h"
#include "app/stage/mask_bars.h"
#include "app/stage/stage_cells.h"
#include "app/stage/views.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/patch_picture.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/embeddings.h"

namespace headwise {
namespace {

using Id = TensorId;

// Which of q, k and v a tensor belongs to; 0 for none.
char family(TensorId id) {
  constexpr Id of_q[]{Id::q,        Id::q_heads,         Id::q_normed,     Id::q_rotary,   Id::q_proj_weight,
                      Id::q_a,      Id::q_a_weight,      Id::q_b_weight,   Id::q_absorbed, Id::q_norm_weight,
                      Id::q_a_bias, Id::q_a_norm_weight, Id::compressed_q, Id::indexer_q};
  constexpr Id of_k[]{
      Id::k,          Id::k_heads,       Id::k_normed, Id::k_rotary,    Id::k_proj_weight, Id::k_norm_weight,
      Id::bias_k,     Id::static_k,      Id::past_key, Id::present_key, Id::k_rot,         Id::k_absorbed,
      Id::past_k_rot, Id::present_k_rot, Id::indexer_k};
  constexpr Id of_v[]{Id::v,        Id::v_heads,    Id::v_proj_weight, Id::bias_v,
                      Id::static_v, Id::past_value, Id::present_value};
  const auto is_in = [&](const auto& ids) { return std::ranges::find(ids, id) != std::end(ids); };
  return is_in(of_q) ? 'q' : is_in(of_k) ? 'k' : is_in(of_v) ? 'v' : 0;
}

// The three parts of in_proj_weight are distinguished by their rows.
char family(const PanelContext& context, const StageMatrix& matrix) {
  const AttentionOptions& o = context.trace.options;
  if (matrix.name.id == Id::in_proj_weight || matrix.name.id == Id::in_proj_bias) {
    const Index q_rows = o.num_heads * o.head_dim, k_rows = o.num_kv_heads * o.head_dim;
    const bool part = !matrix.transposed && matrix.view.rows < matrix.view.tensor->shape().size(0);
    if (matrix.transposed || matrix.view.rows == 1 || part)
      return matrix.row_begin < q_rows ? 'q' : matrix.row_begin < q_rows + k_rows ? 'k' : 'v';
    return 0;
  }
  return family(matrix.name.id);
}

// What formulas call a tensor of the family: "W_q", "∂q"; empty where they use its name, or without one.
std::string symbol_of(TensorName name, char family) {
  const auto formula = [&]() -> std::string {
    switch (name.id) {
      case Id::q_a_weight:
        return "W_DQ";
      case Id::q_b_weight:
        return "W_UQ";
      case Id::kv_a_weight:
        return "W_DKV";
      case Id::kv_b_weight:
        return "W_UKV";
      case Id::q_a:
      case Id::compressed_q:
      case Id::k_rot:
      case Id::past_k_rot:
      case Id::present_k_rot:
        return "";
      default:
        break;
    }
    const bool weight = tensor_entry(name.id).role == TensorRole::parameter;
    return family == 0 ? "" : fmt::format("{}{}", weight ? "W_" : "", family);
  }();
  return formula.empty() || !name.gradient ? formula : "∂" + formula;
}

Rgba8 hue_of(const Palette& palette, char family) {
  return family == 'q' ? palette.q : family == 'k' ? palette.k : family == 'v' ? palette.v : palette.focus;
}

// "d 0 … 15"
std::string axis_caption(const std::string& axis, Index count) {
  std::string name = axis.empty() ? "index" : axis;
  if (name == "D" || name == "Dv" || name == "E" || name == "L")
    name[0] = static_cast<char>(std::tolower(name[0]));
  return count == 1 ? fmt::format("{} 0", name) : fmt::format("{} 0 … {}", name, count - 1);
}

// "query ↓", "key →": whose tokens the labels are, as files say it; "head ↓".
std::string axis_title(const std::string& axis, const char* arrow) {
  const char* name = axis == "L" ? "query" : is_key_axis(axis) ? "key" : axis == "H" ? "head" : "";
  return *name != 0 ? fmt::format("{} {}", name, arrow) : "";
}

// Below the embedding of a text: which of its columns encode the token and which its position. False if the
// matrix is not an embedding, or has no room for the text.
bool draw_embedding_groups(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                           float y) {
  const Id id = part.matrix.name.id;
  const bool input = id == Id::query || id == Id::key || id == Id::value;
  if (!input || part.matrix.name.gradient || part.matrix.transposed ||
      context.scenario.inputs.source != InputSource::text || context.inputs.model_input)
    return false;
  const EmbeddingLayout layout = embedding_layout(plane.cols);
  if (layout.position_column() <= 0 || layout.position_column() >= plane.cols) return false;
  const std::string word = fmt::format("e 0 … {}: token encoding", layout.position_column() - 1);
  // The pair of the constant column, the last one, does not encode a position.
  const Index end_of_place = plane.cols - 2 * layout.constant_pairs;
  const std::string place =
      fmt::format("{} … {}: {}{}", layout.position_column(), end_of_place - 1,
                  context.scenario.inputs.positions ? "sine and cosine of position" : "0, positions are off",
                  layout.constant_pairs > 0 ? "; then 0, 1" : "");
  ImFont* font = context.fonts.mono_small;
  const auto half = float(plane.rect({0, 1, layout.position_column(), layout.position_column() + 1}).x);
  const float begin = float(plane.x), end = float(plane.x + plane.width);
  if (begin + width_of(font, word) > half - 6.0f * context.scale || half + width_of(font, place) > end)
    return false;
  const Painter paint = context.painter();
  const ImU32 ink = im_color(context.palette.text_dim);
  paint.text(font, {begin, y}, ink, word);
  paint.text(font, {half, y}, ink, place);
  paint.line({std::floor(half) - 2.5f, float(plane.y)}, {std::floor(half) - 2.5f, y + font->FontSize}, ink,
             context.scale);
  return true;
}

// The label of a column stays bright in a spotlight. A slanted one is covered in steps along it, so that its
// neighbours stay dim.
void light_column_label(const PanelContext& context, const PlaneGeometry& plane,
                        const std::vector<std::string>& labels, Index column, bool slanted) {
  const double u = context.scale, height = context.fonts.bold->FontSize;
  const RectF cell = plane.cell(plane.rows - 1, column);
  const double x = cell.x + 0.5 * cell.width, y = plane.y + plane.height + 4.0 * u;
  const std::vector<std::string> own{labels[static_cast<std::size_t>(column)]};
  const double width = column_label_width(context, own, 1);
  if (!slanted) {
    context.lit->push_back({x - 0.5 * width - 2 * u, y - 2 * u, width + 4 * u, height + 4 * u});
    return;
  }
  const double angle = label_slant_degrees * std::numbers::pi / 180.0, step = 3.0 * u;
  for (double along = 0.0; along < width; along += step) {
    const double middle_x = x - 3 * u + along * std::cos(angle), middle_y = y + 4 * u + along * std::sin(angle);
    context.lit->push_back(
        {middle_x - 0.35 * height, middle_y - 0.5 * height, 0.7 * height + step, height + 0.2 * step});
  }
}

std::optional<FollowedLine> followed_in(const PanelContext& context, const StageMatrix& matrix) {
  const auto row = followed_row(context.trace, context.selection);
  return row ? followed_line(matrix, *row) : std::nullopt;
}

std::optional<MarkedLabel> followed_label(const PanelContext& context, const StagePart& part, bool columns) {
  const auto line = followed_in(context, part.matrix);
  if (!line || line->column != columns) return std::nullopt;
  return MarkedLabel{line->index, context.palette.followed};
}

// The followed row: a thin frame in its hue,
// and bars beyond both of its ends that are seen from the last row too.
void draw_followed(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane, float thin) {
  const auto line = followed_in(context, part.matrix);
  if (!line) return;
  const CellBox box = line->column ? CellBox{0, plane.rows, line->index, line->index + 1}
                                   : CellBox{line->index, line->index + 1, 0, plane.cols};
  const Painter paint = context.painter();
  const ImU32 color = im_color(context.palette.followed);
  draw_box_outline(paint, plane, box, color, thin);
  const RectF rect = plane.rect(box);
  const ImVec2 min = corner(rect), max = far_corner(rect);
  const float gap = std::round(context.scale), bar = std::max(2.0f, std::round(3.0f * context.scale));
  if (line->column) {
    paint.fill({min.x, min.y - gap - bar}, {max.x, min.y - gap}, color);
    paint.fill({min.x, max.y + gap}, {max.x, max.y + gap + bar}, color);
  } else {
    paint.fill({min.x - gap - bar, min.y}, {min.x - gap, max.y}, color);
    paint.fill({max.x + gap, min.y}, {max.x + gap + bar, max.y}, color);
  }
  ui_probe("followed/" + to_string(part.matrix.name), min, max);
}

// What a page's question asked for, once it has answered: framed outside the cells,
// so that a pinned one keeps its own frame.
void draw_right_cells(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  const auto& right = context.right_cells;
  if (!right || part.matrix.name != first_name(context.trace, TensorName{right->tensor})) return;
  const std::vector<Index>& leading = part.matrix.leading;
  const Shape& shape = part.matrix.view.tensor->shape();
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (rank < 2 || leading.size() + 2 != rank || (!leading.empty() && leading[0] != right->batch)) return;
  // Of k and v, several query heads share one.
  if (leading.size() == 2 && leading[1] != right->head * shape.size(1) / context.trace.options.num_heads)
    return;
  BoxRef box{part.matrix.name, leading, leading};
  for (Index& end : box.end) ++end;
  const auto add = [&](std::optional<Index> at, Index size) {
    box.begin.push_back(at.value_or(0));
    box.end.push_back(at ? *at + 1 : size);
  };
  add(right->row, shape.size(shape.rank() - 2));
  add(right->column, shape.size(shape.rank() - 1));
  const auto drawn = drawn_box(part.matrix, box);
  if (!drawn) return;
  const float thick = std::max(3.0f, std::round(3.0f * context.scale * context.palette.stroke));
  const RectF rect = plane.rect(*drawn);
  context.painter().outline(Box(rect).grown(thick), right_answer_hue(context.palette), thick);
  ui_probe("stage/right", rect);
}

std::optional<Index> chosen_block(const PanelContext& context, Index block, Index size) {
  if (block <= 0) return std::nullopt;
  const Index blocks = size / block;
  if (blocks <= 1) return std::nullopt;
  // k and v have a block per key/value head; several query heads share one.
  const Index per_block = std::max<Index>(1, context.trace.options.num_heads / blocks);
  return std::min(context.selection.head / per_block, blocks - 1);
}

// Beyond the blocks of the heads, along an axis that joins them, a strip in the hue of each head. Blocks that
// several query heads share have none.
void draw_head_strips(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  const auto along = [&](Index block, Index size, bool columns) {
    const Index heads = context.trace.options.num_heads;
    if (block <= 0 || heads < 2 || size != block * heads) return;
    const float gap = context.hairline(), thick = std::round(2.0f * context.scale);
    for (Index head = 0; head < heads; ++head) {
      const CellBox box = columns ? CellBox{0, plane.rows, head * block, (head + 1) * block}
                                  : CellBox{head * block, (head + 1) * block, 0, plane.cols};
      const ImVec2 min = corner(plane.rect(box)), max = far_corner(plane.rect(box));
      const ImVec2 from = columns ? ImVec2(min.x, max.y + gap) : ImVec2(min.x - gap - thick, min.y);
      const ImVec2 to = columns ? ImVec2(max.x - gap, max.y + gap + thick) : ImVec2(min.x - gap, max.y - gap);
      if (to.x > from.x && to.y > from.y) context.painter().fill(from, to, head_hue(context.palette, head));
    }
  };
  along(part.col_block, plane.cols, true);
  along(part.row_block, plane.rows, false);
}

}  // namespace

Rgba8 right_answer_hue(const Palette& palette) {
  return palette.v;
}

Rgba8 tensor_hue(const Palette& palette, TensorId id) {
  const char letter = family(id);
  return letter == 0 ? palette.text : hue_of(palette, letter);
}

std::string name_on_stage(const PanelContext& context, const StageMatrix& matrix) {
  return context.points_at_heads && matrix.leading.size() > 1 ? to_string(matrix.name) : matrix_name(matrix);
}

PlaneGeometry part_plane(const RectF& rect, const StagePart& part) {
  return plane_geometry(rect, part.matrix.view.rows, part.matrix.view.cols);
}

RectF plane_rect(const PlaneGeometry& plane) {
  return {static_cast<double>(plane.x), static_cast<double>(plane.y), static_cast<double>(plane.width),
          static_cast<double>(plane.height)};
}

void draw_stage_sentence(const PanelContext& context, const std::string& sentence, RectF area) {
  ImFont* font = context.fonts.sans;
  const float wrap = std::min(float(area.width), 460.0f * context.scale);
  const ImVec2 size = size_in(font, wrap, sentence);
  const ImVec2 at(float(area.x) + (float(area.width) - size.x) / 2,
                  float(area.y) + (float(area.height) - size.y) / 3);
  context.painter().wrapped(wrap, font, at, context.palette.text_dim, sentence);
}

void draw_part_title(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                     float width, const std::string& sign) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  // For the back row of a hall, all that the line over a matrix has room for.
  ImFont* mono = context.presentation ? context.fonts.mono : context.fonts.mono_small;
  ImFont* small = context.presentation ? context.fonts.sans : context.fonts.small;
  const float baseline = std::floor(float(plane.y) - 7.0f * context.scale);
  float x = float(plane.x);
  const float end = x + width;
  const auto write = [&](ImFont* font, Rgba8 color, const std::string& text, float gap) {
    const float room = end - x;
    if (room <= 0.0f) return;
    const std::string fitted = fitted_text(text, font, room);
    if (fitted == "…") return;
    x = paint.text(font, {x, baseline - font->Ascent}, color, fitted).max.x + gap * context.scale;
  };
  if (!sign.empty()) write(context.fonts.mono, palette.text_dim, sign, 6);
  const char letter = family(context, part.matrix);
  const std::string symbol = symbol_of(part.matrix.name, letter);
  // In a narrow place the symbol is dropped first, then the name's indices: the head is shown above.
  ImFont* bold = context.fonts.bold;
  std::string name = name_on_stage(context, part.matrix);
  const std::string sizes = matrix_sizes(part.matrix), bare = to_string(part.matrix.name);
  const float symbol_width = symbol.empty() ? 0.0f : width_of(bold, symbol) + 7 * context.scale;
  const auto fits = [&](float before, const std::string& text) {
    return before + width_of(mono, text) <= end - x;
  };
  const bool with_symbol = fits(symbol_width, name) || (!fits(0.0f, name) && fits(symbol_width, bare));
  if (!fits(with_symbol ? symbol_width : 0.0f, name)) name = bare;
  if (with_symbol && !symbol.empty()) write(bold, hue_of(palette, letter), symbol, 7);
  write(mono, with_symbol || letter == 0 ? palette.text : hue_of(palette, letter), name, 7);
  const TraceTensors& t = context.trace.tensors;
  if (part.matrix.name == TensorName{Id::dropped_weights} && t.dropped_weights == t.attn_weights)
    write(mono, palette.text_dim, "= attn_weights", 7);
  const float top = std::floor(baseline - mono->Ascent);
  name_tensor(context, part.matrix.name, {float(plane.x), top}, {std::min(x, end), baseline + 3.0f});
  // Sizes are left out rather than cut: a truncated size would be wrong.
  if (width_of(mono, sizes) <= end - x)
    draw_shape_text(context, mono, ImVec2(std::floor(x), top), palette.text_dim, sizes);
  if (!part.col_labels) return;
  const std::string columns = axis_title(part.matrix.col_axis, "→");
  const float columns_width = width_of(small, columns);
  const float columns_x = std::min(float(plane.x + plane.width), end) - columns_width;
  if (columns_x > x + width_of(mono, sizes) + 10.0f * context.scale)
    paint.text(small, {columns_x, baseline - small->Ascent}, palette.text_dim, columns);
}

void draw_part_overlay(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                       const std::vector<StageMark>& marks, bool operand) {
  const Painter paint = context.painter();
  draw_column_blocks(paint, plane, part.col_block);
  draw_row_blocks(paint, plane, part.row_block);
  draw_head_strips(context, part, plane);
  const bool probabilities = !part.matrix.name.gradient && tensor_entry(part.matrix.name.id).probabilities;
  const bool letters = draw_mask_letters(paint, part, plane, context.selection.mask_convention);
  // The values of a mask are worth more than air.
  const float air = part.matrix.name == TensorName{Id::mask_bias} ? 0.0f : operand ? 5.0f : 2.0f;
  if (!letters && draw_cell_digits(paint, plane, part.spec, probabilities, air, 1.0f, context.picture))
    ui_probe("digits/" + to_string(part.matrix.name), plane);

  const float stroke = context.palette.stroke * context.scale;
  const float thin = std::max(1.0f, std::round(stroke));
  const float thick = std::max(2.0f, std::round(2.0f * stroke));
  const Rgba8 hue = hue_of(context.palette, family(context, part.matrix));
  if (const auto block = chosen_block(context, part.col_block, plane.cols)) {
    const CellBox box{0, plane.rows, *block * part.col_block, (*block + 1) * part.col_block};
    draw_box_outline(paint, plane, box, im_color(hue), thin);
  }
  if (const auto block = chosen_block(context, part.row_block, plane.rows)) {
    const CellBox box{*block * part.row_block, (*block + 1) * part.row_block, 0, plane.cols};
    draw_box_outline(paint, plane, box, im_color(hue), thin);
  }
  draw_followed(context, part, plane, thin);
  for (const StageMark& mark : marks) {
    const auto box = drawn_box(part.matrix, mark.box);
    if (!box) continue;
    const bool pointed = mark.kind == MarkKind::pointed;
    const bool own = mark.kind == MarkKind::cell || mark.kind == MarkKind::pinned || pointed;
    const ImU32 color =
        own ? im_color(context.palette.focus) : im_color(hue, mark.kind == MarkKind::consumer ? 0.6f : 1.0f);
    draw_box_outline(paint, plane, *box, color, mark.kind == MarkKind::consumer ? thin : thick);
    if (context.lit && mark.kind != MarkKind::consumer) {
      const RectF lit = plane.rect(*box);
      context.lit->push_back({lit.x - thick, lit.y - thick, lit.width + 2 * thick, lit.height + 2 * thick});
    }
  }
  draw_right_cells(context, part, plane);
  draw_axis_light(context, part, plane);
}

namespace {

// Beside the labels of up to so many rows, the patches of a picture; more would be too small to recognise.
constexpr Index most_row_patches = 64;
constexpr double row_patch_units = 18.0, least_row_patch = 6.0, row_patch_gap = 4.0;

// What they need beside the plane; 0: there are none.
double row_patch_room(const PanelContext& context, const StagePart& part, Index rows) {
  const bool is_there = part.row_labels && part.matrix.row_axis != "H" && rows <= most_row_patches &&
                        picture_of(context.inputs);
  return is_there ? (row_patch_units + row_patch_gap) * context.scale : 0.0;
}

// Returns where the labels end that stand left of them.
PlaneGeometry draw_row_patches(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  PlaneGeometry beside = plane;
  const double room = row_patch_room(context, part, plane.rows);
  if (room == 0.0) return beside;
  beside.x -= static_cast<int>(std::ceil(room));
  const Painter paint = context.painter();
  for (Index i = 0; i < plane.rows; ++i) {
    const RectF row = plane.rect({i, i + 1, 0, 1});
    const double side = std::floor(std::min(row.height, row_patch_units * context.scale));
    if (side < least_row_patch) break;
    const double left = plane.x - side - row_patch_gap * context.scale;
    draw_patch(paint, context.heatmaps, picture_of(context.inputs), i,
               RectF{std::floor(left), std::floor(row.y + 0.5 * (row.height - side)), side, side});
  }
  return beside;
}

}  // namespace

double row_label_width(const PanelContext& context, const StagePart& part, Index rows) {
  if (!part.row_labels) return 0.0;
  const ImFont* font = context.presentation ? context.fonts.sans : context.fonts.small;
  const double title = width_of(font, axis_title(part.matrix.row_axis, "↓"));
  return std::max<double>(label_width(context, *part.row_labels, rows) + row_patch_room(context, part, rows),
                          title);
}

LabelledShape labelled_shape(const PanelContext& context, const StagePart& part) {
  const MatrixView& values = part.spec.values;
  return {values.rows, values.cols, row_label_width(context, part, values.rows),
          part.col_labels ? column_label_width(context, *part.col_labels, values.cols) : 0.0};
}

void draw_part_row_labels(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane,
                          std::optional<Index> chosen) {
  if (!part.row_labels) return;
  const Painter paint = context.painter();
  draw_row_labels(paint, draw_row_patches(context, part, plane), *part.row_labels, chosen,
                  followed_label(context, part, false));
  // Above the labels, in the line of the matrix's title.
  ImFont* small = context.presentation ? context.fonts.sans : context.fonts.small;
  const std::string rows = axis_title(part.matrix.row_axis, "↓");
  const ImVec2 title(float(plane.x) - 8.0f * context.scale - width_of(small, rows),
                     float(plane.y) - 7.0f * context.scale - small->Ascent);
  if (title.x >= ImGui::GetWindowPos().x)
    paint.text(small, {title.x, title.y}, context.palette.text_dim, rows);
  if (context.lit && chosen) {
    const RectF row = plane.rect({*chosen, *chosen + 1, 0, 1});
    const double width = label_width(context, *part.row_labels, plane.rows) + 12.0 * context.scale;
    const double height = std::max<double>(row.height, 1.2 * context.fonts.bold->FontSize);
    context.lit->push_back({plane.x - width, row.y + 0.5 * (row.height - height), width, height});
  }
}

std::optional<Index> draw_part_column_labels(const PanelContext& context, const StagePart& part,
                                             const PlaneGeometry& plane, const std::vector<StageMark>& marks,
                                             bool slanted, bool upright) {
  const Painter paint = context.painter();
  if (part.col_labels) {
    const std::optional<Index> chosen = marked_col(part.matrix, marks);
    draw_column_labels(paint, plane, *part.col_labels, chosen,
                       upright   ? 90.0f
                       : slanted ? float(label_slant_degrees)
                                 : 0.0f,
                       followed_label(context, part, true));
    if (context.lit && chosen) light_column_label(context, plane, *part.col_labels, *chosen, slanted);
    return std::nullopt;
  }
  ImFont* font = context.fonts.mono_small;
  const float y = float(plane.y + plane.height) + 4.0f * context.scale;
  const Rgba8 dim = context.palette.text_dim;
  const Index blocks = part.col_block > 0 ? plane.cols / part.col_block : 0;
  const float block_width = blocks > 0 ? float(plane.width) / float(blocks) : 0.0f;
  if (draw_embedding_groups(context, part, plane, y)) return std::nullopt;
  if (blocks <= 1 || block_width < width_of(font, "95 ")) {
    const std::string caption = axis_caption(part.matrix.col_axis, plane.cols);
    paint.text(font, {float(plane.x), y}, dim, caption);
    return std::nullopt;
  }
  std::optional<Index> clicked;
  const auto chosen = chosen_block(context, part.col_block, plane.cols);
  const Index sharing = std::max<Index>(1, context.trace.options.num_heads / blocks);
  ImGui::PushID(plane.x);
  for (Index block = 0; block < blocks; ++block) {
    const std::string number = fmt::format("{}", block);
    const std::string text = block_width >= width_of(font, "head 95 ") ? "head " + number : number;
    const float left = float(plane.x) + float(block) * block_width;
    ImGui::SetCursorScreenPos(ImVec2(left, y - 2.0f * context.scale));
    ImGui::PushID(static_cast<int>(block));
    if (ImGui::InvisibleButton("block", ImVec2(block_width, font->FontSize + 4.0f * context.scale)))
      clicked = block * sharing;
    tooltip(paint, "show this head");
    const bool bright = block == chosen || ImGui::IsItemHovered();
    ImGui::PopID();
    paint.text(font, {left + block_width / 2, y}, bright ? context.palette.text : dim, text, Align::middle);
  }
  ImGui::PopID();
  return clicked;
}

}  // namespace headwise
