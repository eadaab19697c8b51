#include "app/stage/views.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/cell_terms.h"
#include "app/content/query_key_layout.h"
#include "app/session/commands.h"
#include "app/session/head_gains.h"
#include "app/session/token_predictions.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/blocked_cells.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

constexpr double least_shown = 0.004;  // a weaker weight's hue cannot be told from the ground

// The ground for weight 0, the head's hue for weight 1.
Rgba8 shade(const Palette& palette, Rgba8 hue, double weight) {
  const double part = std::isfinite(weight) ? std::clamp(weight, 0.0, 1.0) : 0.0;
  const auto mix = [&](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + part * (to - from)));
  };
  return {mix(palette.field.r, hue.r), mix(palette.field.g, hue.g), mix(palette.field.b, hue.b), 255};
}

class HeadRowsView {
 public:
  HeadRowsView(const PanelContext& context, HeadRowsState& state, RectF area)
      : context_(context),
        state_(state),
        area_(area),
        names_(state.head_names.of(context)),
        query_(shown_row()) {}

  PanelAction draw(std::optional<CellRef>& under_mouse) {
    PanelAction action;
    const double used = draw_choices(action);
    RectF area{area_.x, area_.y + used, area_.width, area_.height - used};
    HeadRowsShape shape{.heads = heads(), .keys = keys()};
    for (Index head = 0; head < heads(); ++head)
      shape.name_width =
          std::max(shape.name_width, static_cast<double>(width_of(context_.fonts.bold, name(head))));
    shape.name_width += 30.0 * u();
    const auto& labels = context_.inputs.labels.key;
    if (!labels.empty()) shape.key_label_width = column_label_width(context_, labels, keys());
    shape.words = offers_prediction(context_.scenario);
    ImFont* small = context_.fonts.small;
    const double foot = 1.2 * static_cast<double>(small->FontSize);
    const HeadRowsLayout layout =
        head_rows_layout(shape, {area.x, area.y, area.width, area.height - foot}, context_.scale);
    if (layout.row_count == 0) {
      draw_stage_sentence(context_, "make the window larger to see the heads' rows", area);
      return action;
    }
    scroll(layout);
    const PlaneGeometry plane = layout.plane(keys());
    for (Index row = 0; row < layout.row_count; ++row) draw_row(layout, plane, row, action);
    draw_names_stop(layout, action);

    const std::optional<CellRef> focused = focused_cell(context_.trace, context_.selection);
    const auto hit = pointed_plane_cell(context_, "head rows cells", plane);
    const auto cell = [&](Index row, Index key) {
      return CellRef{{TensorId::attn_weights}, {context_.selection.batch, state_.first_row + row, query_, key}};
    };
    std::optional<Index> column;
    if (hit) {
      under_mouse = cell(hit->first, hit->second);
      column = hit->second;
      if (cell_pressed(context_) && !action.selection) {
        action.selection = context_.selection;
        action.selection->head = state_.first_row + hit->first;
      }
    } else if (focused && focused->tensor == TensorName{TensorId::attn_weights} && focused->index[2] == query_) {
      column = focused->index[3];
    }
    const std::optional<CellRef> outlined = under_mouse ? under_mouse : focused;
    if (outlined && column && outlined->index[1] >= state_.first_row &&
        outlined->index[1] < state_.first_row + layout.row_count) {
      const Index row = outlined->index[1] - state_.first_row;
      draw_box_outline(context_.painter(), plane, {row, row + 1, *column, *column + 1},
                       im_color(context_.palette.focus), std::max(1.5f, 1.5f * u()));
    }
    if (layout.key_labels)
      draw_column_labels(context_.painter(), plane, labels, column, layout.slanted ? 45.0f : 0.0f);
    ui_probe("head_rows/cells", plane);
    if (layout.row_count < heads()) {
      const std::string some = fmt::format("heads {} to {} of {}", state_.first_row,
                                           state_.first_row + layout.row_count - 1, heads());
      context_.painter().text(small, {float(area.x), float(area.y + area.height) - small->FontSize},
                              context_.palette.text_dim, some);
    }
    draw_words(layout);
    return action;
  }

 private:
  float u() const { return context_.scale; }
  const Tensor& tensor() const { return *context_.trace.tensors.attn_weights; }
  Index heads() const { return tensor().shape().size(1); }
  Index queries() const { return tensor().shape().size(2); }
  Index keys() const { return tensor().shape().size(3); }

  double weight(Index head, Index key) const {
    return tensor().at({context_.selection.batch, head, query_, key});
  }

  bool has_words() const {
    return context_.predictions && query_ < std::ssize(context_.predictions->positions);
  }

  Index shown_row() const {
    Index salient = 0;
    if (!state_.query && context_.predictions && !context_.predictions->positions.empty())
      salient = predicted_position(context_);
    return shown_query(context_, state_.query.value_or(salient), queries());
  }

  std::string name(Index head) const {
    const auto description = head_description(context_, head);
    if (description) return fmt::format("{} {}", head, description->name);
    const auto at = static_cast<std::size_t>(head);
    const bool measured = at < names_.size() && !names_[at].brief.empty();
    return measured ? fmt::format("{} {}", head, names_[at].brief) : fmt::format("{}", head);
  }

  double draw_choices(PanelAction& action) {
    Index chosen = query_;
    const ImVec2 at = corner(area_);
    const ImVec2 size = draw_query_choice(context_, chosen, query_, queries(), action, at);
    if (chosen != query_) state_.query = query_ = chosen;
    choose_heads(at.x + size.x + 16.0f * u(), far_corner(area_).x, action);
    return static_cast<double>(size.y) + 10.0 * u();
  }

  // "8 heads | one wide head": the second reads the same parameters as one head.
  void choose_heads(float x, float end, PanelAction& action) {
    const std::int64_t now = context_.scenario.attention.num_heads;
    const bool is_wide = state_.wide && now == 1 && projects(context_.scenario.op);
    const std::string why = is_wide ? "" : no_wide_head(context_.scenario, context_.inputs);
    if (context_.picture || (!is_wide && now <= 1)) return;
    const std::string many = fmt::format("{} heads", is_wide ? state_.wide->many.attention.num_heads : now);
    const std::array<std::string_view, 2> ways{many, "one wide head"};
    const ImVec2 size = segmented_control_size(context_, ways);
    x = std::max(x, end - size.x);
    int way = is_wide ? 1 : 0;
    ImGui::SetCursorScreenPos({std::floor(x), corner(area_).y});
    const bool changed = stage_choice(context_, "heads", ways, way, std::max(end - x, 1.0f));
    tooltip(
        context_,
        !why.empty()
            ? "one wide head is not possible here: " + why
            : fmt::format(
                  "reads the same parameters as {} heads, or as one head as wide as all of them: the same "
                  "number of parameters, but a single row of weights. Undo reverts it ({})",
                  is_wide ? state_.wide->many.attention.num_heads : now, first_key_text(CommandId::undo)));
    if (!changed || !why.empty()) return;
    if (way == 1) {
      HeadEdit wide = with_one_wide_head(context_.scenario, context_.inputs);
      state_.wide = HeadRowsState::Wide{context_.scenario, wide.scenario};
      action.scenario = std::move(wide.scenario);
      action.edit_label = std::move(wide.label);
    } else {
      // What was edited since stays edited.
      Scenario back = state_.wide->many;
      if (context_.scenario != state_.wide->one) {
        back = context_.scenario;
        const AttentionSpec& before = state_.wide->many.attention;
        back.attention.num_heads = before.num_heads;
        back.attention.num_kv_heads = before.num_kv_heads;
        back.attention.head_dim = before.head_dim;
        back.attention.v_head_dim = before.v_head_dim;
        back.head_gain = state_.wide->many.head_gain;
      }
      action.edit_label = fmt::format("read as {} heads", back.attention.num_heads);
      action.scenario = std::move(back);
    }
  }

  void scroll(const HeadRowsLayout& layout) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const RectF& cells = layout.cells;
    const bool over = ImGui::IsWindowHovered() && mouse.x >= layout.names_x &&
                      mouse.x < cells.x + cells.width && mouse.y >= cells.y &&
                      mouse.y < cells.y + cells.height;
    if (over) state_.first_row -= static_cast<Index>(std::lround(3.0f * ImGui::GetIO().MouseWheel));
    const Index head = context_.selection.head;
    if (std::exchange(state_.looked_at, head) != head)
      state_.first_row = std::clamp(state_.first_row, head - layout.row_count + 1, head);
    state_.first_row = std::clamp<Index>(state_.first_row, 0, heads() - layout.row_count);
  }

  void draw_row(const HeadRowsLayout& layout, const PlaneGeometry& plane, Index row, PanelAction& action) const {
    const Index head = state_.first_row + row;
    const Palette& palette = context_.palette;
    const Painter paint = context_.painter();
    const RectF line = plane.rect({row, row + 1, 0, keys()});
    const double air = std::min(3.0 * u(), 0.1 * line.height);
    const RectF strip{line.x, line.y + air, line.width, line.height - 2 * air};
    paint.fill(strip, palette.field);
    const Rgba8 hue = head_hue(palette, head);
    const bool numbers =
        line.width / static_cast<double>(keys()) >= 1.2 * width_of(context_.fonts.mono_small, ".00") &&
        strip.height >= context_.fonts.mono_small->FontSize;
    for (Index key = 0; key < keys(); ++key) {
      const double value = weight(head, key);
      RectF cell = plane.cell(row, key);
      cell.y = strip.y;
      cell.height = strip.height;
      const bool blocked = value == 0.0 && is_blocked(context_.trace, {TensorId::attn_weights},
                                                      {context_.selection.batch, head, query_, key});
      const Rgba8 ground = blocked ? blocked_color(context_.theme) : shade(palette, hue, value);
      if (blocked || value >= least_shown) paint.fill(cell, ground);
      const std::string text = blocked                                            ? "×"
                               : numbers && (value >= 0.005 || std::isnan(value)) ? cell_number(value, 2, true)
                                                                                  : "";
      if (!text.empty()) draw_cell_word(paint, cell, {.text = text, .ground = ground});
    }
    paint.outline(strip, is_marked_head(context_, head) ? palette.focus : palette.border, std::max(1.0f, u()));
    draw_head_marks(context_, strip, head);
    ui_probe("head_rows/row", static_cast<int>(head), strip);
    PanelAction asked = draw_head_number(context_, layout.name(row), head, name(head));
    if (asked.scenario || asked.selection) action = std::move(asked);
  }

  // The heads' names are one tab stop: the arrow keys select a head, Enter or Space mutes it.
  void draw_names_stop(const HeadRowsLayout& layout, PanelAction& action) const {
    const RectF first = layout.name(0), last = layout.name(layout.row_count - 1);
    if (context_.picture || context_.points_at_heads ||
        !focus_area(context_.focus, ImGui::GetID("head rows"), corner(first), far_corner(last),
                    FocusKeys::choose))
      return;
    Index head = context_.selection.head;
    if (key_pressed(Key::up) || key_pressed(Key::left)) --head;
    if (key_pressed(Key::down) || key_pressed(Key::right)) ++head;
    if (key_pressed(Key::home)) head = 0;
    if (key_pressed(Key::end)) head = heads() - 1;
    if (head != context_.selection.head && head >= 0 && head < heads()) {
      action.selection = looking_at_head(context_, head);
      state_.first_row = std::clamp(state_.first_row, head - layout.row_count + 1, head);
    }
    if (press_key_pressed() && projects(context_.scenario.op)) {
      HeadEdit edit = toggle_mute(context_.scenario, context_.selection.head);
      action.scenario = std::move(edit.scenario);
      action.edit_label = std::move(edit.label);
    }
  }

  // What the model predicts at this token; where it predicts nothing, why.
  void draw_words(const HeadRowsLayout& layout) const {
    if (layout.words.width <= 0.0) return;
    if (has_words()) {
      draw_predicted_words(context_, query_, layout.words);
      return;
    }
    ImFont* font = context_.fonts.sans;
    const std::string words =
        context_.predictions ? context_.predictions->why : std::string(context_.predictions_refusal);
    ImVec2 at = corner(layout.words);
    for (const TextLine& line : text_layouts().of(words, *font, float(layout.words.width))) {
      context_.painter().text(font, at, context_.palette.text_dim,
                              {words.data() + line.begin, words.data() + line.end});
      at.y += 1.25f * font->FontSize;
    }
    ui_probe("head_rows/no_words", corner(layout.words), {far_corner(layout.words).x, at.y});
  }

  const PanelContext& context_;
  HeadRowsState& state_;
  RectF area_;
  const std::vector<HeadName>& names_;
  Index query_;
};

}  // namespace

bool has_head_rows_view(const Trace& trace) {
  return trace.tensors.attn_weights && trace.tensors.attn_weights->size() > 0;
}

PanelAction draw_head_rows(const PanelContext& context, HeadRowsState& state, RectF area,
                           std::optional<CellRef>& under_mouse) {
  state.salient = salient_position(context);
  return HeadRowsView(context, state, area).draw(under_mouse);
}

}  // namespace headwise
