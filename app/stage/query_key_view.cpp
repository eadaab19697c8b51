#include "app/stage/views.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/head_gains.h"
#include "app/stage/query_key_drawing.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/score_path.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

// the heads above the plane, where there is room
constexpr double strip_units = 92.0, thumbnail_units = 56.0;
constexpr double reach_units = 10.0;  // of an arrow's tip or a point, for the mouse
constexpr double key_steps = 40.0;    // of the arrow keys, across the plane

// The numbers of one head: rows of `width` numbers.
std::vector<double> head_numbers(const Tensor& tensor, Index batch, Index head) {
  const Index size = tensor.shape().size(2) * tensor.shape().size(3);
  const Index from = (batch * tensor.shape().size(1) + head) * size;
  std::vector<double> numbers(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) numbers[static_cast<std::size_t>(i)] = tensor.flat(from + i);
  return numbers;
}

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

// Computes the plane of the selected head unless it is known.
void find_plane(const PanelContext& context, QueryKeyState& state) {
  const TensorPtr& q = queries_of_scores(context.trace.tensors, context.trace.options);
  const TensorPtr& k = keys_of_scores(context.trace.tensors, context.trace.options);
  const Selection& at = context.selection;
  const bool same = state.plane_of_q.lock() == q && state.plane_of_k.lock() == k;
  if (same && state.plane_batch == at.batch && state.plane_head == at.head) return;
  work_probe("query-key plane");
  // In the state of a picture, which has drawn no plane yet, they are those of the window.
  if (!same && state.plane_batch >= 0) state.moves.clear();
  state.dragging = false;
  state.plane_of_q = q;
  state.plane_of_k = k;
  state.plane_batch = at.batch;
  state.plane_head = at.head;
  const Index group = at.head * k->shape().size(1) / std::max<Index>(q->shape().size(1), 1);
  const std::vector<double> queries = head_numbers(*q, at.batch, at.head),
                            keys = head_numbers(*k, at.batch, group);
  state.plane = {};
  state.no_plane.clear();
  if (!all_finite(queries) || !all_finite(keys)) {
    state.no_plane =
        fmt::format("q or k of head {} contains NaN or ∞: such rows have no place in a plane", at.head);
    return;
  }
  state.plane = query_key_plane(queries, keys, q->shape().size(3));
  if (state.plane.rank == 0)
    state.no_plane = fmt::format("every score of head {} is 0: there is no direction to draw", at.head);
}

// The row as the trace has it.
QueryRow row_of_trace(const Trace& trace, Index batch, Index head, Index query) {
  QueryRow row;
  const TensorPtr &scores = trace.tensors.scores, &weights = trace.tensors.attn_weights;
  for (Index s = 0; s < scores->shape().size(3); ++s) {
    row.scores.push_back(scores->at({batch, head, query, s}));
    row.weights.push_back(weights->at({batch, head, query, s}));
  }
  return row;
}

std::vector<bool> blocked_keys(const Trace& trace, Index batch, Index head, Index query) {
  const TensorPtr mask = blocked_cells(trace, {TensorId::attn_weights});
  if (!mask) return {};
  std::vector<bool> blocked;
  for (Index s = 0; s < mask->shape().size(3); ++s)
    blocked.push_back(is_blocked(trace, {TensorId::attn_weights}, {batch, head, query, s}));
  return blocked;
}

std::string percent_text(double share) {
  const double percent = 100.0 * share;
  if (percent > 99.95 && share < 1.0) return "more than 99.9 %";
  return fmt::format("{:.1f} %", percent);
}

// What the plane keeps, what it leaves out.
std::string kept_sentence(const QueryKeyPlane& plane, Index head) {
  if (plane.left_out < 1e-9)
    return fmt::format("The scores of head {} vary along {}: the plane shows them exactly.", head,
                       plane.rank == 1 ? "one direction only" : "two directions only");
  return fmt::format(
      "The plane keeps {} of the squared scores of head {}; a score read from it is off by up to {}.",
      percent_text(1.0 - plane.left_out), head, decimal_text(plane.largest_error, 2));
}

class PlaneView {
 public:
  PlaneView(const PanelContext& context, QueryKeyState& state, RectF area)
      : context_(context),
        state_(state),
        area_(area),
        queries_(std::ssize(state.plane.queries)),
        query_(shown_query(context, state.query, queries_)) {}

  PanelAction draw(std::optional<CellRef>& under_mouse) {
    PanelAction action;
    draw_head(action);
    const double foot = static_cast<double>(context_.fonts.small->FontSize) + 6.0 * u();
    layout_ =
        query_key_layout(state_.plane, {area_.x, area_.y, area_.width, area_.height - foot}, context_.scale);
    if (!layout_.fits) {
      draw_stage_sentence(context_, "make the window larger to see the plane", area_);
      return action;
    }
    if (!context_.picture) {
      use_mouse(action);
      use_keys(action);
    }
    find_row();
    const Selection& at = context_.selection;
    const auto cell = [&](TensorId id, Index key) { return CellRef{{id}, {at.batch, at.head, query_, key}}; };
    std::optional<Index> key = key_;
    if (const auto focused = focused_cell(context_.trace, at);
        !key && focused && focused->index.size() == 4 && focused->index[1] == at.head &&
        focused->index[2] == query_ &&
        (focused->tensor == TensorName{TensorId::scores} ||
         focused->tensor == TensorName{TensorId::attn_weights}))
      key = focused->index[3];
    const QueryRow computed = row_of_trace(context_.trace, at.batch, at.head, query_);
    const ShownQuery shown{state_.plane, layout_,    at.batch,
                           at.head,      query_,     move_of(query_),
                           computed,     state_.row, blocked_keys(context_.trace, at.batch, at.head, query_),
                           key,          other_};
    draw_query_key_plane(context_, shown);
    if (key_) under_mouse = cell(TensorId::scores, *key_);
    if (const auto row = draw_query_key_rows(context_, shown))
      under_mouse = cell(TensorId::attn_weights, *row);
    write_line(query_sentence(shown), "qk/told", context_.palette.text_dim,
               layout_.plane.y + layout_.plane.height + 5.0 * u());
    return action;
  }

 private:
  float u() const { return context_.scale; }
  QueryPlace place(Index query) const { return {context_.selection.batch, context_.selection.head, query}; }

  PlanePoint move_of(Index query) const {
    const auto found = state_.moves.find(place(query));
    return found == state_.moves.end() ? PlanePoint{} : found->second;
  }

  // The tip of a query's arrow on the screen. Only the shown one is drawn moved.
  PlanePoint tip_of(Index query) const {
    const PlanePoint from = state_.plane.queries[static_cast<std::size_t>(query)];
    const PlanePoint move = query == query_ ? move_of(query) : PlanePoint{};
    return layout_.on_screen({from.x + move.x, from.y + move.y});
  }

  // "query ‹ › it  [Reset]  What if: …", and below it what the plane keeps.
  void draw_head(PanelAction& action) {
    const ImVec2 at = corner(area_);
    const ImVec2 size = draw_query_choice(context_, state_.query, query_, queries_, action, at);
    float x = at.x + size.x + 14.0f * u();
    const PlanePoint move = move_of(query_);
    const bool moved = move.x != 0.0 || move.y != 0.0;
    if (moved && !context_.picture) {
      ImGui::SetCursorScreenPos({x, at.y});
      if (text_button(context_, "plane/reset", "Reset")) state_.moves.erase(place(query_));
      named_item(context_, "stage/plane/reset", "returns the query's arrow to where the layer puts it");
      x = ImGui::GetItemRectMax().x + 10.0f * u();
    }
    if (moved) {
      ImFont* font = context_.fonts.sans;
      const std::string words = fitted_clauses(
          "What if this query were another vector? The scenario is unchanged.", font, far_corner(area_).x - x);
      const ImVec2 from(x, std::round(at.y + 0.5f * (size.y - font->FontSize)));
      ui_probe("qk/what_if", context_.painter().text(font, from, context_.palette.focus, words));
    }
    const double used = static_cast<double>(size.y) + 5.0 * u();
    area_ = {area_.x, area_.y + used, area_.width, area_.height - used};
    const double line = write_line(kept_sentence(state_.plane, context_.selection.head), "qk/kept",
                                   context_.palette.text_dim, area_.y);
    area_ = {area_.x, area_.y + line, area_.width, area_.height - line};
  }

  // One line, cut at a clause; returns its height.
  double write_line(const std::string& text, const char* probe, Rgba8 color, double y) const {
    ImFont* font = context_.fonts.small;
    const std::string fitted = fitted_clauses(text, font, float(area_.width));
    const ImVec2 from(float(area_.x), std::floor(float(y)));
    ui_probe(probe, context_.painter().text(font, from, color, fitted));
    return static_cast<double>(font->FontSize) + 8.0 * u();
  }

  // A press on the tip of an arrow takes it; on any other query's, that query is shown first.
  void use_mouse(PanelAction& action) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const PlanePoint at{static_cast<double>(mouse.x), static_cast<double>(mouse.y)};
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) state_.dragging = false;
    if (state_.dragging) {
      set_tip({at.x + state_.grip.x, at.y + state_.grip.y});
      return;
    }
    const RectF& plane = layout_.plane;
    const bool over = ImGui::IsWindowHovered() && at.x >= plane.x && at.x < plane.x + plane.width &&
                      at.y >= plane.y && at.y < plane.y + plane.height;
    if (!over || keys_decide(context_)) return;
    const auto distance = [&](PlanePoint point) { return std::hypot(point.x - at.x, point.y - at.y); };
    double nearest = reach_units * u();
    std::optional<Index> query;
    if (distance(tip_of(query_)) <= nearest) {  // first, whatever else lies there
      query = query_;
    } else {
      for (Index s = 0; s < std::ssize(state_.plane.keys); ++s) {
        const double away = distance(layout_.on_screen(state_.plane.keys[static_cast<std::size_t>(s)]));
        if (away >= nearest) continue;
        nearest = away;
        key_ = s;
      }
      for (Index l = 0; l < queries_; ++l) {
        const double away = distance(tip_of(l));
        if (away >= nearest) continue;
        nearest = away;
        query = l;
        key_.reset();
      }
    }
    if (!query) return;
    if (query != query_) other_ = query;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || context_.picture) return;
    if (query != query_) {
      choose_query(context_, state_.query, *query, queries_, action);
      query_ = *query;
      other_.reset();
    }
    const PlanePoint tip = tip_of(query_);
    state_.grip = {tip.x - at.x, tip.y - at.y};
    state_.dragging = true;
  }

  // The plane is one tab stop: the arrow keys choose a query, with Shift they move its arrow.
  void use_keys(PanelAction& action) {
    const ImVec2 min = corner(layout_.plane), max = far_corner(layout_.plane);
    const bool focused =
        focus_area(context_.focus, ImGui::GetID("query-key plane"), min, max, FocusKeys::choose);
    // Without a focus, too, nothing else is moved with Shift.
    const bool moves = ImGui::GetIO().KeyShift && context_.focus && (focused || context_.focus->focused == 0);
    if (!focused && !moves) return;
    const int x = (key_pressed(Key::right) ? 1 : 0) - (key_pressed(Key::left) ? 1 : 0);
    const int y = (key_pressed(Key::down) ? 1 : 0) - (key_pressed(Key::up) ? 1 : 0);
    Index query = query_ + x + y;
    if (key_pressed(Key::home)) query = 0;
    if (key_pressed(Key::end)) query = queries_ - 1;
    if (moves) {
      if (x == 0 && y == 0) return;
      const double step = std::max(layout_.plane.width, layout_.plane.height) / key_steps;
      const PlanePoint tip = tip_of(query_);
      set_tip({tip.x + step * x, tip.y + step * y});
    } else if (query != query_ && query >= 0 && query < queries_) {
      choose_query(context_, state_.query, query, queries_, action);
      query_ = query;
    }
  }

  void set_tip(PlanePoint screen) {
    const PlanePoint from = state_.plane.queries[static_cast<std::size_t>(query_)];
    PlanePoint to = layout_.clamped(layout_.in_plane(screen));
    if (state_.plane.rank < 2) to.y = from.y;  // nothing lies along the second axis
    state_.moves[place(query_)] = {to.x - from.x, to.y - from.y};
  }

  // The row of the shown query with its arrow where it is now.
  void find_row() {
    const PlanePoint move = move_of(query_);
    const TensorPtr& weights = context_.trace.tensors.attn_weights;
    if (state_.row_of.lock() == weights && state_.row_place == place(query_) && state_.row_move == move)
      return;
    const Selection& at = context_.selection;
    state_.row_of = weights;
    state_.row_place = place(query_);
    state_.row_move = move;
    const bool moved = move.x != 0.0 || move.y != 0.0;
    state_.row = moved ? query_row_with(context_.trace, at.batch, at.head, query_,
                                        moved_query(query_vector(context_.trace, at.batch, at.head, query_),
                                                    state_.plane, move))
                       : row_of_trace(context_.trace, at.batch, at.head, query_);
  }

  // Below the plane: the pair under the mouse, else what can be done here.
  std::string query_sentence(const ShownQuery& shown) const {
    if (shown.other)
      return fmt::format("query “{}”: click to show its scores, drag to move its arrow",
                         query_name(context_, *shown.other));
    if (shown.key) {
      const auto key = static_cast<std::size_t>(*shown.key);
      return fmt::format("“{}” · “{}”: score {}, in the plane {}", query_name(context_, query_),
                         key_name(context_, *shown.key), decimal_text(shown.now.scores[key], 3),
                         decimal_text(dot(shown.tip(), shown.plane.keys[key]), 3));
    }
    if (is_frozen(context_.scenario, context_.selection.head))
      return "The attention weights of this head are frozen: moving a query changes its scores only.";
    if (context_.picture)
      return "A key farther along the arrow has a higher score; its dot grows with its weight.";
    return "A key farther along the arrow has a higher score. Drag the arrow, or move it with Shift and the "
           "arrow keys.";
  }

  const PanelContext& context_;
  QueryKeyState& state_;
  RectF area_;
  Index queries_, query_;
  QueryKeyLayout layout_;
  std::optional<Index> key_, other_;  // under the mouse
};

}  // namespace

bool has_query_key_view(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  const TensorPtr &q = queries_of_scores(t, trace.options), &k = keys_of_scores(t, trace.options);
  return q && k && t.scores && t.attn_weights && t.scores->size() > 0;
}

PanelAction draw_query_key(const PanelContext& context, QueryKeyState& state, const StageContent& scores,
                           RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  find_plane(context, state);
  const double strip = strip_units * context.scale;
  if (scores.head_map && !context.picture && area.height > 4.6 * strip) {
    action = draw_heads_strip(context, scores, {area.x, area.y, area.width, strip},
                              thumbnail_units * context.scale, state.head_ranges, state.head_names.of(context));
    const double used = strip + 6.0 * context.scale;
    area = {area.x, area.y + used, area.width, area.height - used};
  }
  if (!state.no_plane.empty()) {
    draw_stage_sentence(context, state.no_plane, area);
    ui_text_probe(state.no_plane, corner(area));
    return action;
  }
  PanelAction own = PlaneView(context, state, area).draw(under_mouse);
  return action.scenario || action.selection ? action : own;
}

}  // namespace headwise
