#include "app/stage/query_key_drawing.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/stage/stage_cells.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

constexpr std::size_t most_plane_lines =
    40;  // of the other queries' arrows and of the projections: more are one dark area

constexpr std::size_t most_plane_labels = 120;  // tried: placing them takes the square of their number

constexpr float least_dot = 2.5f,
                dot_of_weight = 7.0f;  // radius in units: the area beyond the least is the weight

ImVec2 pixel_of(PlanePoint at) {
  return {float(at.x), float(at.y)};
}

// An arrow with a filled head; no head on one that is shorter than it.
void draw_arrow(const Painter& paint, ImVec2 from, ImVec2 to, ImU32 color, float thick, float head) {
  const float dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  if (length < 1.0f) return;
  const float ux = dx / length, uy = dy / length, reach = std::min(head, length);
  const ImVec2 neck(to.x - reach * ux, to.y - reach * uy);
  paint.line(from, neck, color, thick);
  const float wide = 0.45f * reach;
  paint.list->AddTriangleFilled(to, {neck.x - wide * uy, neck.y + wide * ux},
                                {neck.x + wide * uy, neck.y - wide * ux}, color);
}

void draw_dashes(const Painter& paint, ImVec2 from, ImVec2 to, ImU32 color, float thick, float dash) {
  const float dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  for (float at = 0.0f; at < length; at += 2 * dash) {
    const float end = std::min(at + dash, length);
    paint.line({from.x + dx * at / length, from.y + dy * at / length},
               {from.x + dx * end / length, from.y + dy * end / length}, color, thick);
  }
}

class PlaneDrawing {
 public:
  PlaneDrawing(const PanelContext& context, const ShownQuery& shown)
      : context_(context), palette_(context.palette), shown_(shown), paint_(context.painter()) {}

  void draw() const {
    const RectF& area = shown_.layout.plane;
    paint_.list->PushClipRect(corner(area), far_corner(area), true);
    draw_ground();
    draw_other_queries();
    draw_projections();
    draw_keys();
    draw_query();
    draw_labels();
    paint_.list->PopClipRect();
    ui_probe("stage/plane", area);
  }

 private:
  float u() const { return context_.scale; }
  ImVec2 at(PlanePoint point) const { return pixel_of(shown_.layout.on_screen(point)); }
  ImVec2 origin() const { return at({}); }
  float stroke(float units) const { return std::max(1.0f, units * u() * palette_.stroke); }

  float radius(std::size_t key) const {
    const double weight = shown_.now.weights[key];
    const double shown = std::isfinite(weight) ? std::clamp(weight, 0.0, 1.0) : 0.0;
    return u() * (least_dot + dot_of_weight * float(std::sqrt(shown)));
  }

  bool is_blocked(std::size_t key) const { return key < shown_.blocked.size() && shown_.blocked[key]; }

  // The border, and the axes through the origin, where a score is 0.
  void draw_ground() const {
    const RectF& area = shown_.layout.plane;
    const ImVec2 min = corner(area), max = far_corner(area), zero = origin();
    const ImU32 line = im_color(palette_.border);
    paint_.outline(min, max, line, stroke(1.0f));
    paint_.line({min.x, zero.y}, {max.x, zero.y}, line);
    paint_.line({zero.x, min.y}, {zero.x, max.y}, line);
  }

  void draw_other_queries() const {
    const auto& queries = shown_.plane.queries;
    const bool lines = queries.size() <= most_plane_lines;
    for (std::size_t l = 0; l < queries.size(); ++l) {
      if (static_cast<Index>(l) == shown_.query) continue;
      const bool pointed = shown_.other == static_cast<Index>(l);
      const ImU32 color = im_color(palette_.q, pointed ? 0.9f : 0.35f);
      if (lines || pointed) {
        draw_arrow(paint_, origin(), at(queries[l]), color, stroke(pointed ? 1.5f : 1.0f), 7.0f * u());
      } else {
        paint_.dot(at(queries[l]), 1.5f * u(), color);
      }
      ui_probe("qk/query", static_cast<int>(l), {at(queries[l]).x - 3, at(queries[l]).y - 3},
               {at(queries[l]).x + 3, at(queries[l]).y + 3});
    }
  }

  // The line of the shown query's arrow, and from each key the perpendicular to it: its foot is farther along
  // the arrow the higher the score is.
  void draw_projections() const {
    const PlanePoint tip = shown_.tip();
    const auto line = line_through(shown_.layout, tip);
    if (!line) return;
    draw_dashes(paint_, pixel_of(line->first), pixel_of(line->second), im_color(palette_.q, 0.6f),
                stroke(1.0f), 4.0f * u());
    const auto& keys = shown_.plane.keys;
    for (std::size_t s = 0; s < keys.size(); ++s) {
      const bool pointed = shown_.key == static_cast<Index>(s);
      if (!has_projection(s)) continue;
      const ImVec2 foot = at(foot_on_line(tip, keys[s]));
      paint_.line(at(keys[s]), foot, {pointed ? palette_.focus : palette_.k, pointed ? 0.9f : 0.4f},
                  stroke(pointed ? 1.5f : 1.0f));
      paint_.dot(foot, (pointed ? 3.0f : 2.0f) * u(),
                 {pointed ? palette_.focus : palette_.k, is_blocked(s) ? 0.4f : 0.9f});
      ui_probe("qk/foot", static_cast<int>(s), {foot.x - 2, foot.y - 2}, {foot.x + 2, foot.y + 2});
    }
  }

  // A blocked key is a ring.
  void draw_keys() const {
    for (std::size_t s = 0; s < shown_.plane.keys.size(); ++s) {
      const ImVec2 middle = at(shown_.plane.keys[s]);
      const float r = radius(s);
      if (is_blocked(s)) {
        paint_.ring(middle, r, palette_.text_faint, stroke(1.0f));
      } else {
        paint_.dot(middle, r, {palette_.k, 0.85f});
      }
      if (shown_.key == static_cast<Index>(s))
        paint_.ring(middle, r + 2.5f * u(), palette_.focus, stroke(1.5f));
      const float reach = std::max(r, 4.0f * u());
      ui_probe("qk/key", static_cast<int>(s), {middle.x - reach, middle.y - reach},
               {middle.x + reach, middle.y + reach});
    }
  }

  // The shown query's arrow; where it was moved, also where it was.
  void draw_query() const {
    const ImVec2 tip = at(shown_.tip());
    if (shown_.moved()) {
      const ImVec2 was = at(shown_.plane.queries[static_cast<std::size_t>(shown_.query)]);
      draw_dashes(paint_, origin(), was, im_color(palette_.q, 0.8f), stroke(1.5f), 3.0f * u());
      paint_.ring(was, 3.0f * u(), {palette_.q, 0.8f}, stroke(1.0f));
    }
    draw_arrow(paint_, origin(), tip, im_color(palette_.q), stroke(2.5f), 12.0f * u());
    paint_.dot(origin(), 2.0f * u(), palette_.text_dim);
    ui_probe("qk/tip", {tip.x - 5 * u(), tip.y - 5 * u()}, {tip.x + 5 * u(), tip.y + 5 * u()});
  }

  // Tokens beside the points: first the shown query and the key under the mouse,
  // then the keys by their weights.
  void draw_labels() const {
    struct Label {
      std::string text;
      Rgba8 color;
      ImFont* font;
    };
    std::vector<Label> labels;
    std::vector<MarkLabel> marks;
    const auto add = [&](ImVec2 middle, float reach, const std::string& text, Rgba8 color, ImFont* font) {
      const std::string fitted = fitted_text(text, font, longest_label_units * u());
      marks.push_back({static_cast<double>(middle.x), static_cast<double>(middle.y),
                       static_cast<double>(width_of(font, fitted)), static_cast<double>(font->FontSize),
                       static_cast<double>(reach)});
      labels.push_back({fitted, color, font});
    };
    ImFont* small = context_.presentation ? context_.fonts.caption : context_.fonts.small;
    ImFont* bold = context_.presentation ? context_.fonts.title : context_.fonts.bold;
    add(at(shown_.tip()), 6.0f * u(),
        drawable_text(token_at(context_.inputs.labels.query, shown_.query, "q"), bold), palette_.q, bold);
    if (shown_.other)
      add(at(shown_.plane.queries[static_cast<std::size_t>(*shown_.other)]), 4.0f * u(),
          drawable_text(token_at(context_.inputs.labels.query, *shown_.other, "q"), small), palette_.q, small);
    std::vector<std::size_t> order(shown_.plane.keys.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
    const auto rank = [&](std::size_t s) {
      if (shown_.key == static_cast<Index>(s)) return 2.0;
      const double weight = shown_.now.weights[s];
      return std::isfinite(weight) ? weight : 0.0;
    };
    std::ranges::stable_sort(order, std::greater{}, rank);
    for (const std::size_t s : order) {
      const bool pointed = shown_.key == static_cast<Index>(s);
      add(at(shown_.plane.keys[s]), radius(s) + (pointed ? 4.0f * u() : 0.0f),
          key_name(context_, static_cast<Index>(s)),
          pointed         ? palette_.focus
          : is_blocked(s) ? palette_.text_dim
                          : palette_.text,
          pointed ? bold : small);
      if (marks.size() >= most_plane_labels) break;
    }
    const auto places = place_labels(marks, shown_.layout.plane, drawn_lines());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i]) continue;
      const ImVec2 from(std::floor(float(places[i]->x)), std::floor(float(places[i]->y)));
      paint_.say(labels[i].font, from, labels[i].color, labels[i].text);
    }
  }

  // What is drawn across the plane: the line of the arrow, the keys' projections, and where the arrow was.
  std::vector<ScreenLine> drawn_lines() const {
    std::vector<ScreenLine> lines;
    const PlanePoint tip = shown_.tip();
    if (const auto line = line_through(shown_.layout, tip)) {
      lines.push_back(*line);
      for (std::size_t s = 0; s < shown_.plane.keys.size(); ++s)
        if (const PlanePoint key = shown_.plane.keys[s]; has_projection(s))
          lines.emplace_back(shown_.layout.on_screen(key), shown_.layout.on_screen(foot_on_line(tip, key)));
    }
    if (shown_.moved())
      lines.emplace_back(shown_.layout.on_screen({}),
                         shown_.layout.on_screen(shown_.plane.queries[static_cast<std::size_t>(shown_.query)]));
    return lines;
  }

  bool has_projection(std::size_t key) const {
    return shown_.plane.keys.size() <= most_plane_lines || shown_.key == static_cast<Index>(key);
  }

  const PanelContext& context_;
  const Palette& palette_;
  const ShownQuery& shown_;
  Painter paint_;
};

// Three columns of a row: the token, its score, the bar of its weight with the number.
struct RowColumns {
  float token = 0, token_end = 0, score_end = 0, bar = 0, bar_end = 0, number_end = 0;
};

RowColumns columns_of(const PanelContext& context, const RectF& rows) {
  const float u = context.scale, width = float(rows.width), x = float(rows.x);
  const float number = width_of(context.fonts.mono_small, "0.000") + 6.0f * u;
  RowColumns columns;
  columns.token = x + 4.0f * u;
  columns.token_end = x + 0.31f * width;
  columns.score_end = x + 0.54f * width;
  columns.bar = columns.score_end + 10.0f * u;
  columns.number_end = x + width - 2.0f * u;
  columns.bar_end = columns.number_end - number;
  return columns;
}

void write_right_aligned(const PanelContext& context, float end, float middle, const std::string& text,
                         Rgba8 color) {
  ImFont* mono = context.fonts.mono_small;
  context.painter().text_beside(mono, {end, middle}, color, text, Align::right);
  ui_text_probe(text, {end, middle});
}

// Three decimals, however small: the column is as wide.
std::string weight_text(double weight) {
  return std::isfinite(weight) ? fmt::format("{:.3f}", weight) : decimal_text(weight, 3);
}

// Filled to the weight as it is now; outlined to the weight before the arrow was moved.
void draw_weight_bar(const PanelContext& context, const RowColumns& columns, float top, float bottom,
                     double before, double now, bool moved) {
  const Painter paint = context.painter();
  const float room = columns.bar_end - columns.bar;
  const auto end = [&](double weight) { return columns.bar + room * float(std::clamp(weight, 0.0, 1.0)); };
  if (std::isfinite(now) && now > 0.0)
    paint.fill({columns.bar, top}, {std::max(end(now), columns.bar + 1.0f), bottom}, context.palette.bar);
  if (moved && std::isfinite(before))
    paint.outline({columns.bar, top - 1}, {std::max(end(before), columns.bar + 2.0f), bottom + 1},
                  context.palette.text, std::max(1.0f, context.scale * context.palette.stroke));
}

}  // namespace

std::string key_name(const PanelContext& context, Index key) {
  const ImFont* font = context.presentation ? context.fonts.caption : context.fonts.small;
  return drawable_text(token_at(context.inputs.labels.key, key, "k"), font);
}

void draw_query_key_plane(const PanelContext& context, const ShownQuery& shown) {
  PlaneDrawing(context, shown).draw();
}

std::optional<Index> draw_query_key_rows(const PanelContext& context, const ShownQuery& shown) {
  const QueryKeyLayout& layout = shown.layout;
  if (layout.row_count == 0) return std::nullopt;
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const RowColumns columns = columns_of(context, layout.rows);
  ImFont* small = context.fonts.small;
  const float caption_y = float(layout.rows.y) - small->FontSize - 5.0f * context.scale;
  const auto keys_count = std::ssize(shown.now.weights);
  const std::string key_caption =
      layout.row_count < keys_count ? fmt::format("{} of {}", layout.row_count, keys_count) : "key";
  const auto caption = [&](float x, const std::string& text) {
    paint.text(small, {x, caption_y}, palette.text_dim, text);
  };
  caption(columns.token, key_caption);
  caption(columns.score_end - width_of(small, "score"), "score");
  caption(columns.bar, "weight");

  const std::vector<Index> keys = keys_with_rows(shown.now.weights, layout.row_count);
  const auto pitch = float(layout.pitch);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = static_cast<std::size_t>(keys[i]);
    const float top = float(layout.rows.y) + pitch * float(i), middle = top + 0.5f * pitch;
    const bool chosen = shown.key == keys[i], blocked = key < shown.blocked.size() && shown.blocked[key];
    if (chosen)
      paint.fill({float(layout.rows.x), top + 1}, {columns.number_end + 2, top + pitch - 1}, palette.control,
                 3 * context.scale);
    const std::string name = fitted_text(key_name(context, keys[i]), small, columns.token_end - columns.token);
    paint.text(small, {columns.token, middle - 0.5f * small->FontSize},
               chosen    ? palette.focus
               : blocked ? palette.text_dim
                         : palette.text,
               name);
    write_right_aligned(context, columns.score_end, middle, decimal_text(shown.now.scores[key], 2),
                        blocked ? palette.text_dim : palette.text);
    const float half = 0.28f * pitch;
    draw_weight_bar(context, columns, middle - half, middle + half, shown.computed.weights[key],
                    shown.now.weights[key], shown.moved());
    write_right_aligned(context, columns.number_end, middle,
                        blocked ? "masked" : weight_text(shown.now.weights[key]),
                        blocked ? palette.text_dim : palette.text);
    ui_probe("qk/row", static_cast<int>(keys[i]), {float(layout.rows.x), top},
             {columns.number_end, top + pitch});
  }
  const PlaneGeometry cells = plane_geometry(layout.rows, layout.row_count, 1);
  const auto hit = pointed_plane_cell(context, "plane rows", cells);
  if (!hit) return std::nullopt;
  return keys[static_cast<std::size_t>(std::clamp<Index>(hit->first, 0, std::ssize(keys) - 1))];
}

}  // namespace headwise
