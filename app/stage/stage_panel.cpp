#include "app/stage/stage_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <utility>

#include "app/content/stage_views.h"
#include "app/session/cell_editing.h"
#include "app/stage/mask_bars.h"
#include "app/stage/one_head_layout.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/stage/stage_header.h"
#include "app/stage/veiled_stage.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr float dimness = 0.82f;  // what lies outside is still recognisable, but recedes

// One picture fades into the background, the next one fades in from it.
void fade(const PanelContext& context, const RectF& area) {
  const double hidden = 1.0 - std::abs(2.0 * context.motion - 1.0);
  context.painter().fill(area, {context.palette.panel, float(hidden)});
}

// Whether it is a cell of a map of query-key pairs.
bool is_pair(const std::optional<CellRef>& cell) {
  return cell && !cell->tensor.gradient && cell->index.size() == 4;
}

// A brush stroke over the maps of the mask step. All pairs become what its first pair becomes.
void paint(const PanelContext& context, MaskBrush& brush, const std::optional<CellRef>& under_mouse,
           PanelAction& action) {
  if (!cell_held(context)) {
    brush.painting = false;
    brush.before.reset();
  }
  const bool on_map = is_pair(under_mouse);
  if (!on_map || !painting_refusal(context.trace).empty()) return;
  const Index query = under_mouse->index[2], key = under_mouse->index[3];
  const Index batch = context.selection.batch, head = context.selection.head;
  if (cell_pressed(context)) {
    brush.painting = true;
    brush.blocks = !is_painted(context.trace, batch, head, query, key);
    brush.from_query = query;
    brush.from_key = key;
    brush.before = context.scenario;
    brush.weights_before = context.trace.tensors.attn_weights;
  }
  if (!brush.painting) return;
  auto shape = static_cast<BrushShape>(brush.shape - 1);
  if (context.selection.queries_as_columns) {  // a row of the picture is then a key
    shape = shape == BrushShape::row      ? BrushShape::column
            : shape == BrushShape::column ? BrushShape::row
                                          : shape;
  }
  const auto stroke = [&] {
    Scenario scenario = context.scenario;
    // All but the first, which the last frame has painted.
    for (const auto& [at_query, at_key] :
         cells_between({brush.from_query, brush.from_key}, {query, key}) | std::views::drop(1))
      scenario = with_painted(scenario, context.trace, batch, head, at_query, at_key, shape, brush.blocks);
    brush.from_query = query;
    brush.from_key = key;
    return scenario;
  };
  // A rectangle spans from where it began to the mouse: pairs that it no longer covers are restored.
  Scenario painted = shape == BrushShape::box && brush.before
                         ? with_painted_box(*brush.before, context.trace, batch, head,
                                            {brush.from_query, brush.from_key, query, key}, brush.blocks)
                         : stroke();
  if (painted == context.scenario) return;
  action.scenario = std::move(painted);
  action.edit_label = "paint the mask";
  action.edit_continues = true;
}

// A cell reached with the arrow keys stays focused when Tab moves on to what the inspector says about it.
bool stays_focused(const PanelContext& context, const StageState& state) {
  return state.by_keys && context.focus && context.focus->focused != 0 && !context.focus->mouse_moved;
}

// Whether the mouse has not moved since the pin, the current place or the stage's was changed elsewhere.
void watch_mouse(const Selection& now, StageState& state) {
  Selection place = now;
  place.hovered.reset();
  const ImVec2 mouse = ImGui::GetIO().MousePos, at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const RectF area{at.x, at.y, size.x, size.y};
  const bool moved = area.x != state.area.x || area.y != state.area.y || area.width != state.area.width ||
                     area.height != state.area.height;
  if ((place != state.place || moved) && place.pinned) state.mouse_at_rest = mouse;
  state.place = std::move(place);
  state.area = area;
  const auto& rest = state.mouse_at_rest;
  if (rest && (rest->x != mouse.x || rest->y != mouse.y)) state.mouse_at_rest.reset();
}

// Writes a note above what belongs to no single head, in the all-heads view; returns the area below the note.
RectF draw_no_heads_note(const PanelContext& context, const StageMatrix& result, const RectF& area) {
  const std::vector<Step> shown = shown_steps(context.trace.options);
  const bool split = place_of_step(shown, context.selection.step) >= place_of_step(shown, Step::split_heads);
  const std::string note =
      result.row_axis == "H" ? "This map is of all heads already: each has a row."
      : split                ? "This tensor belongs to all heads: the Concat step has put them side by side."
                             : "These tensors belong to no head yet: the Split heads step comes later.";
  ImFont* font = context.fonts.sans;
  const ImVec2 at = corner(area);
  const auto width = float(area.width);
  ui_probe("stage/no_heads", context.painter().wrapped(width, font, at, context.palette.text_dim, note));
  return without_top(area, size_in(font, width, note).y + 6.0 * context.scale);
}

// For the back row: the largest type that the rows of the maps have room for, as far as that is known before
// they are placed. Where they turn out to be closer, their labels are smaller.
Type presentation_label_type(const PanelContext& context, const StageContent& content, const RectF& area) {
  constexpr double share = 0.8;  // of the height, for the maps of a column
  const StageView view = context.selection.view;
  const Index rows = content.result ? content.result->matrix.view.rows : context.trace.options.num_heads;
  const double heads = static_cast<double>(std::max<Index>(context.trace.options.num_heads, 1));
  const double high = view == StageView::all_heads ? std::ceil(std::sqrt(0.5 * heads)) : 1.0;
  const double pitch = share * area.height / high / static_cast<double>(std::max<Index>(rows, 1));
  std::vector<std::string> labels = context.inputs.labels.query;
  labels.insert(labels.end(), context.inputs.labels.key.begin(), context.inputs.labels.key.end());
  const Type type = label_type(context.fonts, context.scale, float(pitch), labels);
  // Several maps side by side need the width themselves, for their numbers.
  const bool beside = view == StageView::one_head && content.left;
  const bool alone = view == StageView::one_head || view == StageView::tokens || view == StageView::elementwise;
  const Type least = type_at(context.fonts, context.scale, beside ? 15.0f : 18.0f, "");
  return (alone && !beside) || type.size <= least.size ? type : least;
}

// What the stage draws in this frame.
struct StageFrame {
  const PanelContext& context;
  StageState& state;
  const Selection& selection;  // with what was chosen above the stage in this frame
  const StageContent& content;
  const StageContent* before = nullptr;  // of the previous step, while the picture is on its way from there
  RectF area;
  std::optional<CellRef> under_mouse = {};
};

StageContent content_at(const PanelContext& context, const Selection& place, StageState& state) {
  return stage_content(context.trace, context.inputs.labels, place, context.theme, state.ranges);
}

// For a particular step, for views that need queries and keys in fixed places.
StageContent content_of_step(const StageFrame& frame, Step step) {
  Selection place = frame.selection;
  place.step = step;
  place.tensor.reset();
  place.queries_as_columns = false;
  StageContent content = content_at(frame.context, place, frame.state);
  if (frame.state.alone) {  // no thumbnails: the lines, or the words, have all the room
    content.head_map.reset();
    content.head_total = 0;
  }
  return content;
}

// The chosen view; if it has nothing to draw for this trace, the product (or map) of the step.
PanelAction draw_view(StageFrame& frame) {
  const PanelContext& context = frame.context;
  const StageContent& content = frame.content;
  StageState& state = frame.state;
  const RectF& area = frame.area;
  std::optional<CellRef>& mouse = frame.under_mouse;
  switch (frame.selection.view) {
    case StageView::tokens:
      if (!has_tokens_view(context.trace)) break;
      return (picture_of(context.inputs) ? draw_picture_tokens : draw_tokens)(
          context, state.tokens, content_of_step(frame, Step::softmax), area, mouse);
    case StageView::head_rows:
      if (!has_head_rows_view(context.trace)) break;
      return draw_head_rows(context, state.head_rows, area, mouse);
    case StageView::query_key_plane:
      if (!has_query_key_view(context.trace)) break;
      return draw_query_key(context, state.query_key, content_of_step(frame, Step::scores), area, mouse);
    case StageView::elementwise:
      if (!has_elementwise_view(context.trace)) break;
      return draw_elementwise(context, state.elementwise, content_of_step(frame, Step::scores), area, mouse);
    case StageView::prediction:
      return draw_prediction(context, state.prediction, content_of_step(frame, Step::softmax), area, mouse);
    case StageView::gradients:
      if (!content.nothing.empty()) break;
      return draw_gradients(context, state.gradients, content, area, mouse);
    case StageView::compare:
      if (!content.nothing.empty()) break;
      return draw_compare(context, state.compare, content, state.ranges, area, mouse);
    case StageView::memory:
      if (!content.nothing.empty()) break;
      state.memory.presentation = state.alone;
      if (const auto scene = memory_scene(context.trace, frame.selection, context.scenario.inputs.batch_first))
        return draw_memory(context, state.memory, *scene, area, mouse);
      return {};
    case StageView::all_heads:
      if (!content.nothing.empty()) break;
      if (content.result->matrix.leading.size() == 2)
        return draw_all_heads(context, state.all_heads, content, area, mouse);
      frame.area = draw_no_heads_note(context, content.result->matrix, frame.area);
      break;
    case StageView::one_head:
      break;
  }
  if (!content.nothing.empty()) {
    draw_stage_sentence(context, content.nothing, area);
    return {};
  }
  return draw_one_head(context, state.one_head, content, frame.before, area, mouse);
}

// A cell of a map that the result is made from is pinned, and has no counterpart in the result,
// as a pair has: it must be seen.
bool pins_operand(const StageContent& content, const Selection& selection) {
  return selection.pinned &&
         std::ranges::any_of(std::array{&content.left, &content.above, &content.bias}, [&](const auto* part) {
           return *part && (*part)->matrix.name == selection.pinned->tensor &&
                  !((*part)->matrix.row_axis == "L" && is_key_axis((*part)->matrix.col_axis));
         });
}

// For the back row: the map that the step makes, as large as it can be.
void keep_result(StageContent& content) {
  if (!content.result) return;
  content.left.reset();
  content.above.reset();
  content.bias.reset();
  content.sink.reset();
  content.head_total = 0;  // no thumbnails
  content.mask_to_come = content.cell_for_cell = content.row_figures = content.col_figures = false;
  content.sign.clear();
  const std::size_t bar = std::exchange(content.result->bar, 0);
  if (content.head_map) content.head_map->bar = 0;
  if (bar < content.bars.size())
    content.bars = {content.bars[bar]};
  else
    content.bars.clear();
}

bool paints(const MaskBrush& brush, const Selection& selection) {
  return brush.shape > 0 && selection.step == Step::mask && selection.view == StageView::one_head;
}

// With the brush in hand, what the mask makes of the row under the mouse; during a stroke,
// of the last row that it met.
void draw_painted_row(const StageFrame& frame) {
  const PanelContext& context = frame.context;
  MaskBrush& brush = frame.state.brush;
  if (!paints(brush, frame.selection) || !frame.content.nothing.empty() || context.motion < 1.0) return;
  if (is_pair(frame.under_mouse))
    brush.pair = frame.under_mouse;
  else if (!brush.painting)
    brush.pair.reset();
  if (!brush.pair) return;
  OneHeadState& shown = frame.state.one_head;
  const StageLayout layout = one_head_layout(context, frame.content, shown.head_names.of(context), frame.area);
  draw_mask_bars(context, frame.content, layout, frame.area, shown.foot_right, *brush.pair,
                 brush.weights_before);
}

// Why no view has anything to draw; else empty.
std::string nothing_to_draw(const PanelContext& context, const RectF& area) {
  if (context.page_refused) return "there is nothing to see: this page cannot be computed";
  const double least = 120.0 * context.scale;
  if (area.width <= least || area.height <= least) return "make the window larger to see the matrices";
  const TensorPtr& query = context.trace.tensors.query;
  const bool no_text = context.scenario.inputs.source == InputSource::text && query && query->size() == 0;
  return no_text ? "type a sentence" : "";
}

// Mouse handling: a preview while over a cell, a pin on a press. Other panels preview cells too, so the stage
// only resets what it has set itself.
void use_mouse(const PanelContext& context, StageState& state, std::optional<CellRef> under_mouse,
               Selection& selection, PanelAction& action) {
  const bool painting = paints(state.brush, selection);
  if (painting) paint(context, state.brush, under_mouse, action);
  if (under_mouse) {
    selection.hovered = under_mouse;
    if (!painting && cell_pressed(context)) {
      const bool unpins = selection.pinned == under_mouse;
      selection.pinned = unpins ? std::nullopt : under_mouse;
    }
  } else if (state.hovering && !stays_focused(context, state)) {
    selection.hovered.reset();
  }
  state.hovering = under_mouse || (state.hovering && selection.hovered);
  state.by_keys = under_mouse ? keys_decide(context) : state.by_keys && state.hovering;
  // What the stage itself pins lies under the mouse.
  state.place = selection;
  state.place.hovered.reset();
}

// Draws over `area` of the current ImGui window. With nothing lit, nothing is dimmed.
void draw_spotlight(const PanelContext& context, const RectF& area, const std::vector<RectF>& lit) {
  if (lit.empty()) return;
  const Painter paint = context.painter();
  for (const RectF& r : outside_of(area, lit)) paint.fill(r, {context.palette.panel, dimness});
}

}  // namespace

std::vector<RectF> outside_of(const RectF& area, const std::vector<RectF>& rectangles) {
  // Within each band between two edges the same rectangles are cut out.
  const double bottom = area.y + area.height, right = area.x + area.width;
  std::vector<double> edges{area.y, bottom};
  for (const RectF& r : rectangles)
    for (const double y : {r.y, r.y + r.height})
      if (y > area.y && y < bottom) edges.push_back(y);
  std::ranges::sort(edges);
  std::vector<RectF> outside;
  for (std::size_t band = 0; band + 1 < edges.size(); ++band) {
    const double from = edges[band], to = edges[band + 1];
    if (!(to > from)) continue;
    std::vector<std::pair<double, double>> cuts;
    for (const RectF& r : rectangles)
      if (r.y <= from && r.y + r.height >= to && r.width > 0) cuts.emplace_back(r.x, r.x + r.width);
    std::ranges::sort(cuts);
    double x = area.x;
    for (const auto& [begin, end] : cuts) {
      if (begin > x && begin < right) outside.push_back({x, from, begin - x, to - from});
      x = std::max(x, end);
    }
    if (x < right) outside.push_back({x, from, right - x, to - from});
  }
  return outside;
}

StageChoices choices_of(const StageState& state) {
  return {state.elementwise.query, state.prediction.first_row, state.query_key.query,
          state.query_key.moves,   state.head_rows.query,      state.head_rows.first_row,
          state.head_rows.salient, state.prediction.salient};
}

void take_choices(StageState& state, const StageChoices& choices) {
  state.elementwise.query = choices.query;
  state.prediction.first_row = choices.first_row;
  state.query_key.query = choices.plane_query;
  state.query_key.moves = choices.moves;
  state.head_rows.query = choices.rows_query;
  state.head_rows.first_row = choices.first_head;
}

std::optional<Index> chosen_query(const StageChoices& choices, StageView view) {
  const Index query = view == StageView::elementwise ? choices.query : choices.plane_query;
  if (view == StageView::head_rows) return choices.rows_query;
  const bool of_query = view == StageView::elementwise || view == StageView::query_key_plane;
  return of_query && query != 0 ? std::optional(query) : std::nullopt;
}

Index first_query(const StageChoices& choices, StageView view) {
  if (view == StageView::head_rows) return choices.rows_salient;
  return view == StageView::prediction ? choices.predicted_salient : 0;
}

bool has_moved_query(const StageChoices& choices, const Selection& at) {
  return std::ranges::any_of(choices.moves, [&](const auto& move) {
    const auto& [batch, head, query] = move.first;
    return batch == at.batch && head == at.head;
  });
}

void forget_queries(StageState& state) {
  state.head_rows.query.reset();
  state.elementwise.query = state.query_key.query = 0;
  state.query_key.moves.clear();
}

PanelAction draw_stage(const PanelContext& given, StageState& state) {
  watch_mouse(given.selection, state);
  state.one_head.shown.reset();
  std::vector<RectF> lit;
  PanelContext context = given;
  if (cell_pressed(given)) state.mouse_at_rest.reset();
  context.mouse_rests = state.mouse_at_rest.has_value();
  if (given.selection.spotlight) context.lit = &lit;
  if (state.alone) context.picture = context.presentation = true;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), available = ImGui::GetContentRegionAvail();
  if (context.page_refused) {
    const RectF whole{origin.x, origin.y, available.x, available.y};
    const std::string sentence = nothing_to_draw(context, whole);
    draw_stage_sentence(context, sentence, whole);
    ui_text_probe(sentence, origin);
    return {};
  }

  // While moving on from the previous step, its picture is needed too.
  const StageView view = context.selection.view;
  const bool moving = stage_view_entry(view).motion == StepMotion::shown && context.motion < 1.0 &&
                      context.selection.step != Step::inputs;
  Selection place_before = context.selection;
  const std::vector<Step> shown = shown_steps(context.trace.options);
  if (moving) place_before.step = shown[place_of_step(shown, context.selection.step) - 1];
  const bool fades = moving && (context.reduce_motion || state.alone || view != StageView::one_head ||
                                context.selection.queries_as_columns);
  StageContent content =
      content_at(context, fades && context.motion < 0.5 ? place_before : context.selection, state);
  content.mask_to_come = content.mask_to_come && paints(state.brush, context.selection);
  const bool veiled = veil_covers_result(context);
  if (veiled) veil_result(*context.veil, content);
  const bool reads_mask =
      context.selection.step == Step::mask && context.selection.mask_convention != MaskConvention::added;
  if (state.alone && view == StageView::one_head && !veiled && !reads_mask &&
      !pins_operand(content, context.selection))
    keep_result(content);
  if (state.alone && view == StageView::gradients && !veiled) {
    content.left.reset();
    content.above.reset();
  }
  std::optional<StageContent> before;
  if (moving && !fades && !veiled) before = content_at(context, place_before, state);

  Selection selection = context.selection;
  if (state.alone && state.titled_elsewhere)
    draw_presented_head(context);
  else
    selection = draw_stage_header(context, content, state.brush.shape, state.title);
  const double top = ImGui::GetCursorScreenPos().y + 12.0 * context.scale;
  const RectF area{origin.x, top, available.x, std::max(0.0, origin.y + available.y - top)};
  if (state.alone) context.labels = presentation_label_type(context, content, area);
  StageFrame frame{context, state, selection, content, before ? &*before : nullptr, area};
  PanelAction action;
  if (const std::string nothing = nothing_to_draw(context, area); !nothing.empty()) {
    draw_stage_sentence(context, nothing, area);
  } else if (veil_covers_stage(context)) {
    draw_veil(context, area);
  } else {
    action = draw_view(frame);
    draw_painted_row(frame);
  }
  if (fades) fade(context, frame.area);
  draw_spotlight(context, frame.area, lit);

  if (action.selection) {
    action.selection->step = selection.step;
    selection = *action.selection;
  }
  // Where the maps of all heads are on the stage, a click on one is a click on its head.
  const bool many = view == StageView::all_heads || view == StageView::head_rows;
  if (context.points_at_heads && many && frame.under_mouse && frame.under_mouse->index.size() == 4 &&
      cell_pressed(context) && context.trace.tensor(frame.under_mouse->tensor.id)->shape().name(1) == "H")
    action.head = frame.under_mouse->index[1];
  use_mouse(context, state, frame.under_mouse, selection, action);
  if (selection != context.selection) action.selection = std::move(selection);
  return action;
}

}  // namespace headwise
