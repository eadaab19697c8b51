#include "app/stage/inspector_sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/stage_matrix.h"
#include "app/panels/named_text.h"
#include "app/session/commands.h"
#include "app/session/token_predictions.h"
#include "app/stage/mask_bars.h"
#include "app/stage/views.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/heads.h"
#include "core/attention/memory_order.h"
#include "core/attention/output_gate.h"
#include "core/export/code_lines.h"
#include "core/export/number_text.h"
#include "core/lessons/head_statistics.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

void draw_styles(const PanelContext& context, float most_width, CodeSectionState& state) {
  std::array<std::string_view, code_styles.size()> names;
  std::ranges::transform(code_styles, names.begin(), code_style_name);
  int chosen = static_cast<int>(state.style);
  if (narrow_segmented_control(context, "code style", names, chosen, most_width, "inspector/code"))
    state.style = code_styles[static_cast<std::size_t>(chosen)];
  tooltip(context, "code style: PyTorch functions, a single einsum, plain NumPy, d2l, or flex_attention");
}

// All steps with the arrays, ready to be pasted and run: the command of the Edit menu.
void draw_program_link(const PanelContext& context, TextColumn& column, PanelAction& action) {
  const auto link = column.link("program", "copy the whole program", context.palette.text_dim);
  ui_probe("inspector/program", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  tooltip(
      context,
      "every step, with its arrays, gains and dropout, as one Python program that prints the same numbers");
  if (link.clicked) action.command = CommandId::copy_program;
}

// For a projection in the layout 3·H: how the small matrices give the same columns.
std::string small_matrices_line(const PanelContext& context, TensorId result) {
  const AttentionOptions& o = context.trace.options;
  const bool per_head = context.scenario.parameters.layout == ProjectionLayout::per_head;
  if (!per_head || o.op != Op::multi_head_attention) return "";
  switch (result) {
    case TensorId::q:
      return fmt::format("head h: q[:, :, {0}*h:{0}*(h+1)] = query @ q_proj_weight[{0}*h:{0}*(h+1)].T",
                         o.head_dim);
    case TensorId::k:
      return fmt::format("head g: k[:, :, {0}*g:{0}*(g+1)] = key @ k_proj_weight[{0}*g:{0}*(g+1)].T",
                         o.head_dim);
    case TensorId::v:
      return fmt::format("head g: v[:, :, {0}*g:{0}*(g+1)] = value @ v_proj_weight[{0}*g:{0}*(g+1)].T",
                         o.v_head_dim);
    default:
      return "";
  }
}

// For a split or a concatenation of arrays stored as (L,N,E): what nn.MultiheadAttention does with them,
// whose strides the memory order view shows.
std::string sequence_first_line(const PanelContext& context, TensorId result) {
  if (context.scenario.inputs.batch_first) return "";
  const MemoryOrder order = memory_order(context.trace, context.selection.step, result, false);
  if (order.states.size() == 1) return "";
  std::string code;
  for (const MemoryState& state : order.states) code += state.code;
  return fmt::format("batch_first=False: {}, strides {}", code, order.states.back().layout.strides_text());
}

using Id = TensorId;

// The cell whose map the stage shows, or the first one of the step's result.
std::optional<CellRef> cell_of_map(const PanelContext& context, const std::optional<StepPicture>& picture) {
  if (const auto cell = focused_cell(context.trace, context.selection)) return cell;
  if (!picture) return std::nullopt;
  const TensorPtr tensor = context.trace.tensor(picture->result);
  if (!tensor || tensor->size() == 0) return std::nullopt;
  CellRef cell{{picture->result}, std::vector<Index>(static_cast<std::size_t>(tensor->shape().rank()), 0)};
  const StagePlace place{context.selection.batch, context.selection.head};
  if (const auto shown = stage_matrix(context.trace, cell.tensor, place))
    std::ranges::copy(shown->leading, cell.index.begin());
  return cell;
}

std::optional<MatrixView> mask_of_map(const PanelContext& context, const CellRef& cell) {
  const TensorPtr mask = blocked_cells(context.trace, cell.tensor);
  if (!mask) return std::nullopt;
  return matrix_view(mask, std::span(cell.index).first(cell.index.size() - 2));
}

// The statistics of the map, kept until another one is shown.
const CellStatistics& map_statistics_of(const PanelContext& context, MapStatisticsState& state,
                                        const MatrixView& view, const CellRef& cell) {
  const std::optional<MatrixView> mask = mask_of_map(context, cell);
  const TensorPtr masked_by = mask ? mask->tensor : nullptr;
  if (state.of.lock() != view.tensor || state.offset != view.offset || state.masked_by.lock() != masked_by) {
    state.of = view.tensor;
    state.offset = view.offset;
    state.masked_by = masked_by;
    state.statistics = cell_statistics(view, mask);
  }
  return state.statistics;
}

std::string open_cells_remark(const CellStatistics& map) {
  std::vector<std::string> parts;
  const auto count = [&](Index number, const char* what) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  count(map.nans, "NaN");
  count(map.minus_infs, "−∞");
  count(map.plus_infs, "+∞");
  return join(parts, ", ");
}

// What a row and a map have in common: how many of their cells no mask blocks, and what else has no finite
// number.
void draw_open_cells(TextColumn& column, const CellStatistics& cells) {
  column.row("open cells", fmt::format("{} of {}", cells.open, cells.cells), open_cells_remark(cells));
}

// The entropy of the attention that the row belongs to: that of the head's caption over All heads, for one
// row.
void draw_row_entropy(const PanelContext& context, TextColumn& column, const CellRef& cell) {
  const std::vector<Index>& at = cell.index;
  const bool is_told = !context.veil || !context.veil->hides({Id::attn_weights});
  const bool of_weights = cell.tensor.id == Id::attn_weights;
  const bool is_per_head = of_weights || cell.tensor.id == Id::scores || cell.tensor.id == Id::scaled_scores ||
                           cell.tensor.id == Id::masked_scores || cell.tensor.id == Id::dropped_weights;
  if (!is_told || !is_per_head || at.size() != 4) return;
  const auto row = row_entropy(context.trace, at[0], at[1], at[2]);
  if (!row) return;
  // After dropout a row is no distribution any more.
  const char* name = of_weights                              ? "entropy"
                     : cell.tensor.id == Id::dropped_weights ? "entropy before dropout"
                                                             : "entropy after softmax";
  column.row(name, decimal_text(row->entropy, 2), fmt::format("of {:.2f}", row->most));
}

constexpr std::size_t most_others = 4;
constexpr double least_listed = 5e-3;

std::string probability_text(double probability) {
  return std::isnan(probability) ? "NaN" : fmt::format("{:.3f}", probability);
}

// Where the selected head attends from this position.
void draw_strongest_weight(const PanelContext& context, TextColumn& column, Index position) {
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Selection& selection = context.selection;
  if (!weights || weights->shape().rank() != 4 || position >= weights->shape().size(2)) return;
  Index strongest = -1;
  double most = -1.0;
  for (Index key = 0; key < weights->shape().size(3); ++key) {
    const double weight = weights->at({selection.batch, selection.head, position, key});
    if (weight > most) {
      most = weight;
      strongest = key;
    }
  }
  if (strongest < 0) return;
  column.paragraph(fmt::format(
      "Head {} attends most to “{}”: {}.", selection.head,
      drawable_text(token_at(context.inputs.labels.key, strongest, "position"), context.fonts.sans),
      probability_text(most)));
}

// How many keys the mask hides from this query of the selected head.
Index blocked_key_count(const PanelContext& context, Index query) {
  const TensorPtr mask = blocked_cells(context.trace, {TensorId::attn_weights});
  if (!mask || query >= mask->shape().size(2)) return 0;
  Index blocked = 0;
  for (Index key = 0; key < mask->shape().size(3); ++key) {
    const std::vector<Index> cell{context.selection.batch, context.selection.head, query, key};
    blocked += is_blocked(context.trace, {TensorId::attn_weights}, cell) ? 1 : 0;
  }
  return blocked;
}

constexpr std::size_t most_shares = 12;

}  // namespace

void draw_code_section(const PanelContext& context, CodeSectionState& state, TextColumn& column,
                       const std::optional<StepPicture>& picture, PanelAction& action) {
  // The lines that make a mask say which pairs it blocks.
  if (!picture || (context.veil && context.veil->mask)) return;
  const std::vector<CodeLine> code =
      code_lines(state.style, context.selection.step, picture->result, context.trace);
  if (code.empty()) return;
  column.heading("THE SAME IN CODE");
  draw_styles(context, column.width(), state);
  column.space(4);
  std::vector<TextColumn::Line> lines;
  for (const CodeLine& line : code) {
    const bool last = &line == &code.back();  // below it nothing follows that its comment could be taken for
    if (last) lines.push_back({line.code, false});
    const std::string indent(std::min(line.code.find_first_not_of(' '), line.code.size()), ' ');
    if (!line.comment.empty()) lines.push_back({indent + "# " + line.comment, true});
    if (!last) lines.push_back({line.code, false});
  }
  if (const std::string small = small_matrices_line(context, picture->result); !small.empty())
    lines.push_back({"# " + small, true});
  if (const std::string other = sequence_first_line(context, picture->result); !other.empty())
    lines.push_back({"# " + other, true});
  const auto booleans = mask_code(state.style, context.selection.mask_convention);
  const auto mask =
      stage_matrix(context.trace, {TensorId::mask_bias}, {context.selection.batch, context.selection.head});
  if (booleans && context.selection.step == Step::mask && mask) {
    const bool boolean = is_boolean(mask->view);
    if (boolean) lines.push_back({booleans->code, false});
    lines.push_back(
        {boolean ? "# " + booleans->comment : "# floats are added: both conventions treat them alike", true});
  }
  std::string word;
  column.code("code", lines, &word);
  if (const auto tensor = find_tensor_name(word)) point_at_tensor(context, *tensor);
  ui_probe("inspector/code/lines", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  column.space(4);
  draw_program_link(context, column, action);
  column.space(14);
}

void draw_row_statistics(const PanelContext& context, TextColumn& column) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2) return;
  if (context.veil && context.veil->hides(cell->tensor)) return;
  const std::size_t leading = cell->index.size() - 2;
  const MatrixView map = matrix_view(tensor, std::span(cell->index).first(leading));
  std::optional<MatrixView> mask = mask_of_map(context, *cell);
  if (mask) mask = row_of(*mask, cell->index[leading]);
  const CellStatistics row = cell_statistics(row_of(map, cell->index[leading]), mask);
  BoxRef box = box_of(*cell);
  box.begin.back() = 0;
  box.end.back() = tensor->shape().size(tensor->shape().rank() - 1);
  const ImVec2 top = column.cursor();
  column.heading("THIS ROW: " + box_text(context.trace, box));
  draw_open_cells(column, row);
  const bool has_all = row.open == row.cells;
  column.row("range",
             row.finite > 0 ? fmt::format("{} … {}", decimal_text(row.least, 2), decimal_text(row.largest, 2))
                            : "none",
             has_all ? "" : "of the open cells");
  const bool gives_root = cell->tensor == TensorName{Id::scores};
  const double root = std::sqrt(static_cast<double>(context.trace.options.head_dim));
  column.row("standard deviation", decimal_text(row.deviation, 2),
             gives_root ? fmt::format("√D = {:.4g}", root) : std::string());
  if (!cell->tensor.gradient) draw_row_entropy(context, column, *cell);
  // A gradient is neither logits nor probabilities, whatever its tensor is.
  if (cell->tensor.gradient || tensor_entry(cell->tensor.id).probabilities)
    column.row("sum", decimal_text(row.sum, 4));
  ui_probe("inspector/row", top, {top.x + column.width(), column.cursor().y});
}

void draw_map_statistics(const PanelContext& context, MapStatisticsState& state, TextColumn& column,
                         const std::optional<StepPicture>& picture) {
  const std::optional<CellRef> cell = cell_of_map(context, picture);
  if (!cell || (context.veil && context.veil->hides(cell->tensor))) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2 || tensor->size() == 0) return;
  const std::size_t leading = cell->index.size() - 2;
  const MatrixView view = matrix_view(tensor, std::span(cell->index).first(leading));
  const CellStatistics& map = map_statistics_of(context, state, view, *cell);
  BoxRef box = box_of(*cell);
  for (std::size_t axis = leading; axis < cell->index.size(); ++axis) {
    box.begin[axis] = 0;
    box.end[axis] = tensor->shape().size(static_cast<Index>(axis));
  }
  column.space(8);
  const ImVec2 top = column.cursor();
  const bool hides_head = context.points_at_heads && leading > 1;
  column.heading("THIS MAP: " + (hides_head ? to_string(cell->tensor) : box_text(context.trace, box)));
  draw_open_cells(column, map);
  if (map.finite > 0) {
    column.row("mean", decimal_text(map.mean, 4), map.open < map.cells ? "of the open cells" : "");
    column.row("standard deviation", decimal_text(map.deviation, 4));
    CellRef largest = *cell;
    largest.index[leading] = map.place.first;
    largest.index[leading + 1] = map.place.second;
    const std::string tokens = cell_tokens(context.trace, context.inputs.labels, largest);
    const std::string place =
        fmt::format("[{},{}]{}{}", map.place.first, map.place.second, tokens.empty() ? "" : " ",
                    drawable_text(tokens, context.fonts.small));
    column.row("largest", decimal_text(map.largest, 4), place);
  }
  ui_probe("inspector/map", top, {top.x + column.width(), column.cursor().y});
}

std::string prediction_place(const std::string& token, Index position, const TransformerConfig& config) {
  const PredictedToken kind = predicted_token(config);
  if (kind == PredictedToken::picture_class)
    return fmt::format("From “{}”, after the last layer: what the whole picture shows.", token);
  return fmt::format(
      "{} “{}” (position {}): {}. {}", kind == PredictedToken::next ? "After" : "At", token, position,
      kind == PredictedToken::next       ? "the next word"
      : kind == PredictedToken::in_place ? "the word in this place"
                                         : "the answer to its task",
      config.is_causal ? "The model has read this word and the ones before it, and no later one."
                       : "The model has read the whole sentence, before and after it.");
}

bool draw_inspected_prediction(const PanelContext& context, TextColumn& column) {
  if (context.selection.view != StageView::prediction || !context.predictions ||
      context.predictions->positions.empty() || context.veil)  // what is predicted follows from what is hidden
    return false;
  const ModelInput& input = *context.predictions->of->inputs.model_input;
  const TransformerConfig& config = input.model->transformer()->config();
  const Index position = predicted_position(context);
  const PredictionChange& change = context.predictions->positions[static_cast<std::size_t>(position)];
  ImFont* font = context.fonts.sans;
  const auto word = [&](TokenId id) { return drawable_text(input.model->label(id), font); };
  const char* const what = config.patches ? "class" : "word";

  column.heading("THIS VIEW");
  column.paragraph(
      fmt::format(
          "Original: what the model predicts as it was trained. With your changes: what it predicts when the "
          "output of layer {} is the one shown here.",
          input.layer),
      context.palette.text_dim);
  column.space(16);
  const ImVec2 top = column.cursor();
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  column.heading(!cell ? "THIS PREDICTION"
                       : fmt::format("THIS PREDICTION: {}",
                                     context.selection.hovered ? "UNDER THE MOUSE" : context.pinned_words()));
  column.paragraph(prediction_place(
      drawable_text(token_at(context.inputs.labels.query, position, "position"), font), position, config));
  if (const Index hidden = config.is_causal ? 0 : blocked_key_count(context, position); hidden > 0)
    column.paragraph(fmt::format("With your changes, layer {} hides {} of {} keys from it in this head.",
                                 input.layer, hidden, context.trace.tensors.attn_weights->shape().size(3)));
  column.space(4);
  if (change.before.empty() || change.now.empty()) return true;
  const WordChange &before = change.before.front(), &now = change.now.front();
  if (std::isnan(change.bits)) {
    column.paragraph(fmt::format("The prediction is NaN: no {} is more probable than another.", what),
                     context.palette.warning);
    return true;
  }
  column.row(fmt::format("original “{}”", word(before.id)), probability_text(before.before));
  const bool edited = std::ranges::any_of(context.predictions->positions, has_changed);
  if (edited) column.row(fmt::format("with your changes “{}”", word(now.id)), probability_text(now.now));
  column.space(4);
  if (!edited) {
    column.paragraph("Nothing is changed.", context.palette.text_dim);
  } else if (!has_changed(change)) {
    column.paragraph(fmt::format("Your changes don't affect this {}.", what), context.palette.text_dim);
  } else if (before.id != now.id) {
    column.paragraph(fmt::format("Another {}: “{}” fell to {}, and “{}” rose from {}.", what, word(before.id),
                                 probability_text(before.now), word(now.id), probability_text(now.before)));
  } else {
    column.paragraph(
        fmt::format("The same {}, {}.", what, now.now < now.before ? "less certain" : "at least as certain"));
  }
  if (has_changed(change)) column.row("changed by Σ p log₂(p/q)", fmt::format("{:.3f}", change.bits), "bits");
  column.space(4);
  std::size_t listed = 0;
  for (const WordChange& other : change.now) {
    if (other.id == now.id || other.id == before.id) continue;
    if (std::max(other.before, other.now) < least_listed || listed == most_others) continue;
    if (listed++ == 0)
      column.heading(config.patches ? "OTHER CLASSES: ORIGINAL → CHANGED" : "OTHER WORDS: ORIGINAL → CHANGED");
    column.row(word(other.id),
               fmt::format("{} → {}", probability_text(other.before), probability_text(other.now)));
  }
  column.space(8);
  draw_strongest_weight(context, column, position);
  ui_probe("inspector/prediction", top, {top.x + column.width(), column.cursor().y});
  return true;
}

std::vector<OutputShare> output_shares(const Trace& trace, const Selection& selection, std::size_t shown) {
  const std::optional<CellRef> cell = focused_cell(trace, selection);
  const TraceTensors& t = trace.tensors;
  const bool output = cell && cell->tensor == TensorName{TensorId::output};
  if (!output || !t.out_proj_weight || !t.concat) return {};
  const Index heads = trace.options.num_heads;
  const OutputCellByHeads parts =
      output_cell_by_heads(*trace.tensor(rows_of_output(t)), *t.out_proj_weight, t.out_proj_bias.get(), heads,
                           cell->index[0], cell->index[1], cell->index[2]);
  std::vector<Index> order(static_cast<std::size_t>(heads));
  std::iota(order.begin(), order.end(), Index{0});
  if (order.size() > shown) {
    std::ranges::stable_sort(order, std::greater{}, [&](Index h) { return parts.share_of_head(h); });
    std::ranges::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown));
  }
  std::vector<OutputShare> shares;
  OutputShare others{fmt::format("{} other heads", order.size() - std::min(order.size(), shown))};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double value = parts.heads[static_cast<std::size_t>(order[i])], share = parts.share_of_head(order[i]);
    if (i < shown) {
      shares.push_back({fmt::format("head {}", order[i]), order[i], value, share});
    } else {
      others.value += value;
      others.share += share;
    }
  }
  if (order.size() > shown) shares.push_back(others);
  if (t.out_proj_bias) shares.push_back({"bias", std::nullopt, parts.bias, parts.share_of_bias()});
  return shares;
}

void draw_output_shares(const PanelContext& context, TextColumn& column) {
  const std::vector<OutputShare> shares = output_shares(context.trace, context.selection, most_shares);
  if (shares.empty()) return;
  column.heading("IS A SUM OVER HEADS");
  column.paragraph("%: share of all, ignoring signs", context.palette.text_dim);
  ImFont* small = context.fonts.small;
  ImFont* mono = context.fonts.mono_small;
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const ColorTable& table = color_table(ColorMap::blue_orange, context.theme);
  const float line = std::round(mono->FontSize * 1.5f);
  const float value_end = column.width() * 0.52f;
  const float percent_end =
      std::max(column.width() * 0.70f, value_end + width_of(mono, "100.0 %") + 8.0f * context.scale);
  const float bar_begin = percent_end + 10.0f * context.scale, bar_width = column.width() - bar_begin;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const OutputShare& share = shares[i];
    const ImVec2 at = column.cursor();
    const float y = at.y + 0.5f * line;
    const bool looked_at = share.head == context.selection.head;
    const float dot = 3.0f * context.scale, name_x = at.x + 2 * dot + 5.0f * context.scale;
    if (share.head)
      paint.dot({at.x + dot, std::round(at.y + 0.5f * line)}, dot, head_hue(context.palette, *share.head));
    paint.text_beside(small, {name_x, y}, looked_at ? palette.focus : palette.text_dim, share.name);
    paint.text_beside(mono, {at.x + value_end, y}, palette.text, decimal_text(share.value), Align::right);
    if (std::isfinite(share.share)) {
      paint.text_beside(mono, {at.x + percent_end, y}, palette.text_dim,
                        fmt::format("{:.1f} %", 100.0 * share.share), Align::right);
      const ImVec2 from(at.x + bar_begin, at.y + line * 0.26f);
      const float length = float(share.share) * bar_width;
      if (share.share > 0.0)
        paint.fill(from, {from.x + std::max(1.0f, length), at.y + line * 0.74f},
                   share.value < 0.0 ? table[64] : palette.bar);
    }
    ui_probe("inspector/share", static_cast<int>(i), at, ImVec2(at.x + column.width(), at.y + line));
    column.skip(line);
    tooltip(context,
            "the number is the sum of each head's contribution through its rows of W_O, plus the bias. The "
            "share ignores signs: |part| of Σ |part|, so parts that cancel each other also count");
  }
  column.space(10);
}

}  // namespace headwise
