#include "app/stage/views.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/content/stage_layout.h"
#include "app/panels/named_text.h"
#include "app/stage/stage_choice.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/painter.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/export/number_text.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

// Places and draws the two columns of tokens in the tokens view: queries left, keys right, with room for
// lines between them.

// One column of tokens; token i is centred at y(i).
struct TokenColumn {
  const std::vector<std::string>* labels = nullptr;
  Index count = 0;
  float x = 0.0f;  // where lines begin or end
  float top = 0.0f, pitch = 1.0f;
  bool right = false;

  float y(Index i) const { return top + (float(i) + 0.5f) * pitch; }
  float bottom() const { return top + float(count) * pitch; }
  // Returns the token under the mouse, which may be up to `reach` pixels outside the column,
  // on the side of its label.
  std::optional<Index> token_at(ImVec2 mouse, float reach) const;
};

struct TokenColumns {
  TokenColumn queries, keys;
  float label_room = 0.0f;  // next to each column, for its labels
  double top = 0.0;         // of the captions
};

// Which row or column of the map is focused: the one under the mouse, else the pinned one.
struct TokenFocus {
  std::optional<Index> query, key;
};

constexpr double widest_pitch_units = 34.0, widest_presentation_units = 64.0;
constexpr float smallest_label = 0.8f;  // of the usual text

std::optional<Index> TokenColumn::token_at(ImVec2 mouse, float reach) const {
  const bool beside =
      right ? mouse.x >= x - 8 && mouse.x <= x + reach : mouse.x <= x + 8 && mouse.x >= x - reach;
  const auto i = static_cast<Index>(std::floor((mouse.y - top) / pitch));
  if (!beside || i < 0 || i >= count) return std::nullopt;
  return i;
}

TokenColumns token_columns(const PanelContext& context, const MatrixView& weights, const RectF& area) {
  const float u = context.scale, width = float(area.width);
  const float label_room = std::min(0.25f * width, 150.0f * u);
  const auto height = float(std::max(1.0, area.height - 16.0 * u));
  const auto longest = float(std::max<Index>({weights.rows, weights.cols, 1}));
  const float pitch = std::min(
      height / longest, float(context.presentation ? widest_presentation_units : widest_pitch_units) * u);
  const float span = std::clamp(width - 2 * label_room - 16 * u, 60.0f * u, 460.0f * u);
  const float left = float(area.x) + label_room, top = float(area.y) + 14 * u;
  const TokenLabels& labels = context.inputs.labels;
  return {{&labels.query, weights.rows, left, top, pitch, false},
          {&labels.key, weights.cols, left + span, top, pitch, true},
          label_room,
          area.y};
}

// Draws "queries L 12 … S 12 keys" above the columns; the sizes, with their letters, are between the
// captions, if there is room.
void draw_token_captions(const PanelContext& context, const TokenColumns& columns, const StageMatrix& weights) {
  const float u = context.scale, y = float(columns.top) - 4 * u;
  const auto caption = [&](const TokenColumn& column, const char* text, Rgba8 color) {
    ImFont* bold = context.fonts.bold;
    const float size = context.presentation ? bold->FontSize : context.fonts.small->FontSize;
    const float x = column.right ? column.x + 8 * u : column.x - 8 * u - width_of(bold, text);
    context.painter().text({bold, size}, {x, y}, color, text);
  };
  caption(columns.queries, "queries", context.palette.q);
  caption(columns.keys, "keys", context.palette.k);
  if (columns.keys.x - columns.queries.x <= 110.0f * u) return;
  ImFont* mono = context.fonts.mono_small;
  const auto size = [&](const std::string& axis, const TokenColumn& column) {
    const std::string text = fmt::format("{} {}", axis, column.count);
    const float x = column.right ? column.x - 8 * u - width_of(mono, text) : column.x + 8 * u;
    draw_shape_text(context, mono, {std::floor(x), y}, context.palette.text_dim, text, true);
  };
  size(weights.row_axis, columns.queries);
  size(weights.col_axis, columns.keys);
}

// Draws the labels of one column, in `room` pixels; while one is chosen, the others are dimmed.
void draw_token_labels(const PanelContext& context, const TokenColumn& column, std::optional<Index> chosen,
                       float room) {
  const Type large = context.presentation && column.labels
                         ? label_type(context.fonts, context.scale, column.pitch, *column.labels)
                         : Type(context.fonts.sans);
  ImFont* font = large.size > context.fonts.sans->FontSize ? large.font : context.fonts.sans;
  const Painter paint = context.painter();
  // If they would touch, they are made smaller, then every second, third … is left out.
  const float size =
      std::round(font->FontSize * std::clamp(column.pitch / (1.1f * font->FontSize), smallest_label, 1.0f));
  Index every = 1;
  for (const Index step : {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}) {
    every = step;
    if (column.pitch * float(step) >= size * 1.05f) break;
  }
  for (Index i = 0; i < column.count; ++i) {
    if (i % every != 0 && i != chosen) continue;
    ImFont* face = i == chosen && font == context.fonts.sans ? context.fonts.bold : font;
    const bool labelled = column.labels && i < static_cast<Index>(column.labels->size());
    const std::string name = labelled ? (*column.labels)[static_cast<std::size_t>(i)] : std::to_string(i);
    const std::string text = fitted_text(labelled ? drawable_text(axis_word(name), face) : name, face,
                                         room * font->FontSize / size);
    const float gap = 8.0f * context.scale;
    const float x =
        column.right ? column.x + gap : column.x - gap - width_of(face, text) * size / font->FontSize;
    paint.text({face, size}, {x, column.y(i) - 0.5f * size},
               !chosen || i == chosen ? context.palette.text : context.palette.text_dim, text);
    ui_probe(column.right ? "label/key" : "label/query", static_cast<int>(i),
             {std::floor(x), std::floor(column.y(i) - 0.5f * size)},
             {x + width_of(face, text, size), std::floor(column.y(i) + 0.5f * size)});
    if (!unknown_word(name).empty())
      draw_dotted_line(paint.list, {std::floor(x), std::floor(column.y(i) + 0.5f * size)},
                       x + width_of(face, text, size), im_color(context.palette.warning), context.scale);
  }
}

// Returns the query or key under the mouse, or reached with the arrow keys; both null if there is none.
TokenFocus pointed_token(const PanelContext& context, const TokenColumns& columns) {
  const auto reached = [&](const char* name, const TokenColumn& column) {
    const float x = column.right ? column.x : column.x - columns.label_room;
    const RectF labels{x, column.top, columns.label_room, column.bottom() - column.top};
    return line_reached(context, name, labels, column.count);
  };
  // Both are tab stops, even while the mouse decides.
  const TokenFocus by_keys{reached("queries", columns.queries), reached("keys", columns.keys)};
  if (keys_decide(context) || !ImGui::IsWindowHovered()) return by_keys;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return {columns.queries.token_at(mouse, columns.label_room),
          columns.keys.token_at(mouse, columns.label_room)};
}

// More are unreadable; and software GL fills 40 frames a second of these at 1600×1000.
constexpr Index most_lines = 1000;

// Up to this many lines, each is as dark as its weight; beyond that only the strong ones are, or they would
// merge into one dark area.
constexpr double few_lines = 120.0;
constexpr Index few_tokens = 32;           // with more, only the strongest half is shown at first
constexpr double least_pitch_units = 7.0;  // closer tokens replace the thumbnails

// "lines for the strongest | 50 % | 80 % … of the attention that each | query gives | key gets |": draws the
// line above the tokens, returns its height. In a narrow stage the text is left out, then it takes two lines.
float draw_choices(const PanelContext& context, const TokenLines& lines, ImVec2 at, float width,
                   PanelAction& action) {
  constexpr auto share_names = TokenLines::share_names;
  constexpr auto ways = TokenLines::way_names;
  int share = *lines.share, way = lines.per_key ? 1 : 0;
  const std::string before = "lines for the strongest", between = "of the attention that each";
  ImFont* font = context.presentation ? context.fonts.sans : context.fonts.small;
  if (context.picture) {  // nothing to choose: what was chosen
    const bool every = share + 1 == static_cast<int>(share_names.size());
    const std::string sentence = fmt::format(
        "lines for {} {} {}",
        every ? "all" : "the strongest " + std::string(share_names[static_cast<std::size_t>(share)]), between,
        ways[static_cast<std::size_t>(way)]);
    context.painter().text(font, at, context.palette.text_dim, fitted_text(sentence, font, width));
    return font->FontSize;
  }
  const float gap = 8.0f * context.scale;
  const ImVec2 share_size = segmented_control_size(context, share_names);
  const float controls = share_size.x + gap + segmented_control_size(context, ways).x;
  const bool words = controls + width_of(font, before) + width_of(font, between) + 2 * gap <= width;
  const auto write = [&](const std::string& text) {
    if (!words) return;
    context.painter().text(font, {at.x, std::round(at.y + 0.5f * (share_size.y - font->FontSize))},
                           context.palette.text_dim, text);
    at.x += width_of(font, text) + gap;
  };
  const ImVec2 origin = at;
  write(before);
  ImGui::SetCursorScreenPos(at);
  constexpr std::array<std::string_view, 4> short_names{"50", "80", "95", "all"};
  const auto choose = [&](const TokenLines& chosen) {
    action.selection = context.selection;
    action.selection->lines = chosen;
  };
  if (stage_choice(context, "share", share_size.x > width ? short_names : share_names, share, width))
    choose({share, lines.per_key});
  tooltip(context, "draws the strongest lines until they cover this share of the attention");
  at.x = ImGui::GetItemRectMax().x + gap;
  write(between);
  if (controls > width) at = {origin.x, origin.y + share_size.y + gap};
  ImGui::SetCursorScreenPos(at);
  if (stage_choice(context, "direction", ways, way, width)) choose({context.selection.lines.share, way == 1});
  tooltip(context, "whether the share is counted per query (its row sums to 1) or per key");
  return at.y + share_size.y - origin.y;
}

// A pinned score or weight focuses its query, and so does a number of q.
TokenFocus pinned_focus(const PanelContext& context) {
  const auto& pinned = context.selection.pinned;
  if (!pinned || pinned->tensor.gradient || pinned->index.size() != 4) return {};
  constexpr TensorId of_queries[]{TensorId::q_heads,      TensorId::q_normed,       TensorId::q_rotary,
                                  TensorId::scores,       TensorId::scaled_scores,  TensorId::masked_scores,
                                  TensorId::attn_weights, TensorId::dropped_weights};
  if (std::ranges::find(of_queries, pinned->tensor.id) == std::end(of_queries)) return {};
  return {pinned->index[2], std::nullopt};
}

void draw_lines(const PanelContext& context, const TokensState& state, const TokenColumn& queries,
                const TokenColumn& keys, const TokenFocus& focus) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  ImFont* mono = context.presentation ? context.fonts.caption : context.fonts.mono_small;
  const float bow = 0.4f * (keys.x - queries.x);
  const bool focused = focus.query || focus.key;
  const auto count = static_cast<double>(state.lines.lines.size());
  const auto crowd = float(1.0 - std::sqrt(std::min(1.0, few_lines / std::max(count, 1.0))));
  const auto strongest =
      state.lines.lines.empty() ? 1.0f : float(std::min(state.lines.lines.back().weight, 1.0));
  for (const bool bright : {false, true}) {
    for (const AttentionLine& line : state.lines.lines) {
      const bool own = !focused || line.query == focus.query || line.key == focus.key;
      if (own != bright) continue;
      const ImVec2 from{queries.x, queries.y(line.query)}, to{keys.x, keys.y(line.key)};
      const auto weight = float(std::min(line.weight, 1.0));
      const float alone = focused && own ? 0.0f : crowd;
      const float contrast = 1.0f - alone + alone * weight / strongest;
      const float least =
          focused && own ? 0.35f : 0.06f * (1.0f - 0.7f * alone);  // what is looked at can be followed
      const float opacity = std::max(least, weight * contrast) * (own ? 1.0f : 0.3f);
      const Rgba8 color = !focused || !own ? palette.text : focus.query ? palette.q : palette.k;
      paint.list->AddBezierCubic(from, {from.x + bow, from.y}, {to.x - bow, to.y}, to, im_color(color, opacity),
                                 (0.75f + 2.5f * weight) * context.scale * (1.0f - 0.4f * alone));
    }
  }
  if (!focused) return;
  const TokenColumn& other = focus.query ? keys : queries;
  for (const AttentionLine& line : state.lines.lines) {
    if (focus.query ? line.query != focus.query : line.key != focus.key) continue;
    if (other.pitch < mono->FontSize && line.weight < 0.1) continue;
    const std::string number = cell_number(line.weight, 2, true);
    const float y = other.y(focus.query ? line.key : line.query) - 0.5f * mono->FontSize;
    const float gap = 10.0f * context.scale;
    const float x = other.right ? other.x - gap - width_of(mono, number) : other.x + gap;
    const ImVec2 at{std::floor(x), std::floor(y)};
    paint.fill({at.x - 2, at.y}, {at.x + width_of(mono, number) + 2, at.y + mono->FontSize},
               {palette.panel, 0.85f});
    paint.text(mono, at, palette.text, number);
  }
}

// The axis whose letter is pointed at, along its tokens; N and H frame the lines. What is pointed at by name
// is framed: the weights are the lines, q and k the tokens.
void draw_light(const PanelContext& context, const StagePart& map, const TokenColumn& queries,
                const TokenColumn& keys, float room) {
  if (!context.pointed) return;
  const auto plane_of = [](const TokenColumn& column, float width) {
    return plane_geometry({column.x, column.top, width, column.bottom() - column.top}, column.count, 1);
  };
  const PlaneGeometry lines = plane_of(queries, keys.x - queries.x), asked = plane_of(keys, room);
  StagePart along = map;
  along.matrix.col_axis.clear();
  along.row_block = along.col_block = 0;
  draw_axis_light(context, along, lines);
  along.matrix.row_axis = map.matrix.col_axis;
  along.matrix.leading.clear();
  draw_axis_light(context, along, asked);

  const float thick = context.hairline(1.5f);
  const auto frame = [&](float x, float width, const TokenColumn& column) {
    context.painter().outline({x, column.top}, {x + width, column.bottom()}, context.palette.focus, thick);
  };
  for (const BoxRef& box : context.pointed->boxes) {
    const TensorName name = first_name(context.trace, box.tensor);
    if (name.gradient) continue;
    if (name == first_name(context.trace, map.matrix.name)) frame(queries.x, keys.x - queries.x, queries);
    if (name.id == TensorId::q || name.id == TensorId::q_heads || name.id == TensorId::q_normed ||
        name.id == TensorId::q_rotary || name.id == TensorId::q_absorbed)
      frame(queries.x - room, room, queries);
    if (name.id == TensorId::k || name.id == TensorId::k_heads || name.id == TensorId::k_normed ||
        name.id == TensorId::k_rotary || name.id == TensorId::present_key || name.id == TensorId::k_absorbed ||
        name.id == TensorId::compressed_kv || name.id == TensorId::present_compressed_kv)
      frame(keys.x, room, keys);
  }
}

// For the selected head: a logarithm for each of its weights, too much for every frame.
const HeadStatistics& statistics_of(const PanelContext& context) {
  struct Known {
    std::weak_ptr<const Tensor> weights;
    Index batch = -1, head = -1;
    HeadStatistics statistics;
  };
  static Known known;
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Selection& at = context.selection;
  if (!weights || known.weights.lock() != weights || known.batch != at.batch || known.head != at.head) {
    work_probe("head statistics");
    known = {weights, at.batch, at.head, head_statistics(context.trace, at.batch, at.head)};
  }
  return known.statistics;
}

std::string statistics_text(const PanelContext& context) {
  const HeadStatistics& s = statistics_of(context);
  if (s.rows == 0) return "no row of this head is finite";
  const std::string pair =
      s.query < 0
          ? ""
          : fmt::format(" · strongest {} → {} {}", token_at(context.inputs.labels.query, s.query, ""),
                        token_at(context.inputs.labels.key, s.key, ""), cell_number(s.strongest, 2, true));
  return fmt::format("entropy {:.2f} of {:.2f} nats · mean distance {:.1f} tokens{}", s.entropy,
                     s.most_entropy, s.distance, pair);
}

Index strongest_partner(const MatrixView& weights, Index row, bool of_key) {
  const MatrixView view = of_key ? weights.transposed() : weights;
  Index best = 0;
  for (Index j = 1; j < view.cols; ++j)
    if (view.value(row, j) > view.value(row, best)) best = j;
  return best;
}

// Caches the lines until something they depend on changes.
void find_lines(const MatrixView& view, const TokenLines& chosen, TokensState& state) {
  if (state.lines_of.lock() == view.tensor && state.lines_offset == view.offset && state.lines_chosen == chosen)
    return;
  const double share = TokenLines::shares[static_cast<std::size_t>(*chosen.share)];
  state.lines = attention_lines(view, share, chosen.per_key, most_lines);
  state.lines_of = view.tensor;
  state.lines_offset = view.offset;
  state.lines_chosen = chosen;
}

// What the head does, in numbers: one line.
void draw_statistics(const PanelContext& context, const TokensState& state, ImVec2 at, float width) {
  ImFont* small = context.fonts.small;
  std::string statistics = statistics_text(context);
  if (state.lines.left_out > 0)
    statistics = fmt::format("{} weaker lines hidden · {}", state.lines.left_out, statistics);
  context.painter().text(small, at, context.palette.text_dim, fitted_text(statistics, small, width));
}

// What the lines are lit up for: the focused token, else what is pinned. `under_mouse` receives a pair of it.
TokenFocus focus_on(const PanelContext& context, const StageMatrix& matrix, const TokenFocus& looked_at,
                    std::optional<CellRef>& under_mouse) {
  const TokenFocus pinned = pinned_focus(context);
  const auto& [query, key] = looked_at;
  if (query) {
    under_mouse = cell_at(matrix, *query, strongest_partner(matrix.view, *query, false));
    return {query, std::nullopt};
  }
  if (!key) return pinned;
  if (pinned.query) {
    under_mouse = cell_at(matrix, *pinned.query, *key);
    return pinned;
  }
  under_mouse = cell_at(matrix, strongest_partner(matrix.view, *key, true), *key);
  return {std::nullopt, key};
}

}  // namespace

int shown_share(const TokenLines& chosen, Index tokens) {
  return chosen.share.value_or(tokens > few_tokens ? 0 : 1);
}

bool has_tokens_view(const Trace& trace) {
  return trace.tensors.attn_weights && trace.tensors.attn_weights->size() > 0;
}

PanelAction draw_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                        RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const float u = context.scale, width = float(area.width);
  const StagePart& map = *weights.result;
  const MatrixView& view = map.matrix.view;
  const double bottom = area.y + area.height;
  double top = area.y;
  // The heads, as thumbnails in one row, if there is room for both.
  const double strip = 92.0 * u;
  const double longest = static_cast<double>(std::max<Index>({view.rows, view.cols, 1}));
  const double pitch = (area.height - strip - 70.0 * u) / longest;
  if (weights.head_map && area.height > 3.2 * strip && pitch >= least_pitch_units * u) {
    action = draw_heads_strip(context, weights, {area.x, area.y, area.width, strip}, 56.0 * u,
                              state.head_ranges, state.head_names.of(context));
    top += strip + 6.0 * u;
  }
  const ImVec2 at{float(area.x), float(top)};
  TokenLines lines = context.selection.lines;
  lines.share = shown_share(lines, std::max(view.rows, view.cols));
  top += draw_choices(context, lines, at, width, action) + 6.0 * u;
  find_lines(view, lines, state);
  if (!context.presentation) draw_statistics(context, state, {at.x, float(top)}, width);
  top += (context.presentation ? 0.0f : context.fonts.small->FontSize) + 12.0 * u;

  const TokenColumns columns = token_columns(context, view, {area.x, top, area.width, bottom - top});
  const auto& [queries, keys, room, captions_top] = columns;
  draw_token_captions(context, columns, map.matrix);
  const TokenFocus focus = focus_on(context, map.matrix, pointed_token(context, columns), under_mouse);
  draw_lines(context, state, queries, keys, focus);
  draw_token_labels(context, queries, focus.query, room - 8 * u);
  draw_token_labels(context, keys, focus.key, room - 8 * u);
  draw_light(context, map, queries, keys, room);
  ui_probe("stage/queries", {queries.x - room, queries.top}, {queries.x, queries.bottom()});
  ui_probe("stage/keys", {keys.x, keys.top}, {keys.x + room, keys.bottom()});
  return action;
}

}  // namespace headwise
