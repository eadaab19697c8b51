#include "app/stage/views.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/panels/named_text.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/lessons/operation_counts.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Offsets in the cells if the largest fits; else the first and last of each row.
void draw_offsets(const PanelContext& context, const MemoryReading& reading) {
  const PlaneGeometry& plane = reading.plane;
  const std::vector<Index>& floats = reading.floats();
  const std::vector<Rgba8>& colors = reading.colors();
  ImFont* font = context.fonts.mono_small;
  const float u = context.scale, small = std::round(0.84f * font->FontSize);
  const float cell_width = float(plane.width) / float(plane.cols);
  const float row_height = float(plane.height) / float(plane.rows);
  const std::string largest = std::to_string(reading.scene.floats() - 1);
  const Painter paint = context.painter();
  const auto fits = [&](float size) {
    return row_height >= size && width_of(font, largest, size) + 2.5f * u <= cell_width;
  };
  const bool each = fits(font->FontSize) || fits(small);
  const bool large = each ? fits(font->FontSize) : row_height >= font->FontSize;
  if (!large && row_height < small) return;
  const float size = large ? font->FontSize : small;
  const auto number = [&](Index row, Index col) {
    return std::to_string(floats[static_cast<std::size_t>(row * plane.cols + col)]);
  };
  const auto y_of = [&](const RectF& cell) {
    return std::floor(float(cell.y + 0.5 * cell.height) - 0.5f * size);
  };
  // On a backing rectangle, because it is wider than its cell.
  const auto at_the_side = [&](Index row, Index col, float x) {
    const std::string text = number(row, col);
    const RectF cell = plane.cell(row, col);
    paint.fill({x - 2 * u, float(cell.y)},
               {x + width_of(font, text, size) + 2 * u, float(cell.y + cell.height)},
               {context.palette.panel, 0.82f});
    paint.text({font, size}, {x, y_of(cell)}, context.palette.text, text);
  };
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; each && col < plane.cols; ++col) {
      const RectF cell = plane.cell(row, col);
      const std::string text = number(row, col);
      const float x = float(cell.x + 0.5 * cell.width) - 0.5f * width_of(font, text, size);
      const Rgba8 ink = ink_on(colors[static_cast<std::size_t>(row * plane.cols + col)]);
      paint.text({font, size}, {x, y_of(cell)}, ink, text);
    }
    if (each) continue;
    at_the_side(row, 0, float(plane.x) + 2 * u);
    const float width = width_of(font, number(row, plane.cols - 1), size);
    if (float(plane.width) > 3.0f * width && plane.cols > 1)
      at_the_side(row, plane.cols - 1, float(plane.x + plane.width) - width - 2 * u);
  }
}

// "float 405 is q[0,3,21]: n't, head 1".
std::string owner_words(const PanelContext& context, const MemoryScene& scene, Index first_float) {
  const MemoryOrder& order = scene.order;
  const std::vector<Index> source = from_layout(order.source, cell_of(order.states, 0, first_float));
  std::string text = fmt::format("float {} is {}[{}]", first_float, tensor_entry(order.source.tensor).name,
                                 join(source, ","));
  const Shape& shape = context.trace.tensor(order.source.tensor)->shape();
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto* tokens = tokens_of(context.inputs.labels, shape.axes()[i].name);
    if (tokens && source[i] < static_cast<Index>(tokens->size()) && text.find(':') == std::string::npos)
      text += ": " + drawable_text((*tokens)[static_cast<std::size_t>(source[i])], context.fonts.mono_small);
  }
  const std::optional<Index> head = head_of_float(order, first_float);
  return head ? fmt::format("{}, head {}", text, *head) : text;
}

constexpr float lane_units = 13.0f, mark_units = 4.0f;
constexpr float least_block_units = 2.0f;  // of the contiguous floats of one head

float caption_height(const PanelContext& context) {
  return std::round(context.fonts.small->FontSize * 1.25f);
}

float lane_height(const PanelContext& context) {
  return std::round((lane_units + 2 * mark_units + 5.0f) * context.scale);
}

float cells_height(const PanelContext& context) {
  return std::round(context.fonts.mono_small->FontSize * 1.5f);
}

// One of a few colours, from dark to light.
Rgba8 head_color(const PanelContext& context, Index which, Index count) {
  return color_at(static_cast<double>(which) + 0.5, {0.0, static_cast<double>(count)},
                  color_table(ColorMap::viridis, context.theme));
}

// For a transposed k every float belongs to the same head: the keys have to be told apart.
bool colored_by_key(const MemoryScene& scene) {
  return scene.matrix.transposed;
}

class Strips {
 public:
  Strips(const PanelContext& context, MemoryStripState& state, const MemoryScene& scene, RectF area)
      : context_(context), state_(state), scene_(scene), area_(area), paint_(context.painter()) {
    block_ = block_length();
    const auto most = static_cast<Index>(area.width / (least_block_units * context.scale));
    count_ = std::min(scene.floats(), std::max<Index>(1, most) * block_);
  }

  std::optional<Index> draw(const MemoryStripParts& parts, const MarkedFloats& marked,
                            std::optional<Index> wrong_float, std::optional<Index>& under) {
    keep_in_sight();
    auto y = float(area_.y);
    const std::optional<Index> clicked = caption(marked, y);
    y += caption_height(context_);
    for (std::size_t memory = 0; memory < parts.lanes; ++memory) {
      if (memory > 0) {
        ImFont* small = context_.fonts.small;
        paint_.text(small, {float(area_.x), y}, context_.palette.text_dim,
                    fitted_text("the copy: the same floats in a different order", small, float(area_.width)));
        y += caption_height(context_);
      }
      lane(memory, marked, wrong_float, y, under);
      y += lane_height(context_);
    }
    if (parts.floats) cells(y + 2.0f * context_.scale, wrong_float, under);
    state_.hovered = under.has_value();
    return clicked;
  }

 private:
  // Consecutive floats of one head: those of the contiguous axis.
  Index block_length() const {
    if (scene_.order.heads > 0 && scene_.order.head_width > 1) return scene_.order.head_width;
    const auto& axes = scene_.order.states.back().layout.axes();
    const auto inner =
        std::ranges::find_if(axes, [](const StridedAxis& a) { return a.stride == 1 && a.size > 1; });
    Index length = inner == axes.end() ? 1 : inner->size;
    // The last state may have joined the heads into one axis again.
    const auto& before = scene_.order.states[scene_.order.head_state].layout.axes();
    for (const StridedAxis& axis : before)
      if (axis.stride == 1 && axis.size > 1) length = std::min(length, axis.size);
    return length;
  }

  // The float of the first memory stored at a place in this one.
  Index float_at(std::size_t memory, Index place) const {
    const std::size_t state = scene_.last_in(memory);
    return float_of(scene_.order.states, state, scene_.order.states[state].layout.index_of(place));
  }

  Index place_in(std::size_t memory, Index first_float) const {
    return place_of(scene_.order.states, scene_.last_in(memory), first_float);
  }

  float x_of(Index place) const {
    return float(area_.x + area_.width * static_cast<double>(place - begin_) / static_cast<double>(count_));
  }

  // The view follows the focused float, but does not move under the mouse.
  void keep_in_sight() {
    const Index last = scene_.floats() - count_;
    if (!state_.hovered) {
      state_.middle = scene_.first_float;
      if (scene_.first_float < state_.lane_begin || scene_.first_float >= state_.lane_begin + count_)
        state_.lane_begin = (scene_.first_float - count_ / 2) / block_ * block_;
    }
    begin_ = state_.lane_begin = std::clamp<Index>(state_.lane_begin, 0, std::max<Index>(last, 0));
  }

  // The lane's name, and the colours of the heads.
  std::optional<Index> caption(const MarkedFloats& marked, float y) const {
    ImFont* small = context_.fonts.small;
    ImFont* mono = context_.fonts.mono_small;
    const Palette& palette = context_.palette;
    const float u = context_.scale, right = float(area_.x + area_.width);
    const std::string& source = scene_.order.states.front().code;
    const bool part = count_ < scene_.floats();
    std::string text =
        part ? fmt::format("floats {} to {} of {}'s {}", begin_, begin_ + count_ - 1, source,
                           count_text(scene_.floats()))
             : fmt::format("{}'s memory: {} floats in a row", source, count_text(scene_.floats()));
    std::optional<Index> clicked;
    float end = right;
    const Index heads = scene_.order.heads;
    const float chip = std::round(small->FontSize * 1.15f);
    const float all = chip * float(heads);
    if (heads > 1 && all + width_of(small, "head ") <= 0.45f * float(area_.width)) {
      float x = std::floor(right - all);
      end = x - width_of(small, "head ") - 8.0f * u;
      paint_.text(small, {end + 4.0f * u, y}, palette.text_dim, "head");
      const Index sharing = std::max<Index>(1, context_.trace.options.num_heads / heads);
      for (Index head = 0; head < heads; ++head) {
        const ImVec2 min(x, y), max(x + chip - u, y + chip - 2 * u);
        const Rgba8 color = colored_by_key(scene_) ? palette.control : head_color(context_, head, heads);
        paint_.fill(min, max, color);
        const std::string number = std::to_string(head);
        const float size = number.size() < 2 ? mono->FontSize : 0.8f * mono->FontSize;
        paint_.text_beside({mono, size}, Box(min, max).middle(), ink_on(color), number, Align::middle);
        if (head == scene_.map) paint_.outline(Box(min, max).grown(1), palette.focus, std::max(1.0f, u));
        if (!context_.picture) {
          ImGui::SetCursorScreenPos(min);
          ImGui::PushID(static_cast<int>(head));
          if (ImGui::InvisibleButton("head", {chip, chip})) clicked = head * sharing;
          ImGui::PopID();
          tooltip(context_, "the colour of this head's floats; click to show the head");
          ui_probe(fmt::format("stage/memory/head/{}", head), min, max);
        }
        x += chip;
      }
    }
    float x = float(area_.x);
    const auto write = [&](const std::string& words, Rgba8 color) {
      x = paint_.text_within(end - x, small, {x, y}, color, words).max.x + 12.0f * u;
    };
    write(text, palette.text_dim);
    if (!marked.right.empty()) write("▔ " + marked.what, palette.text);
    if (!marked.wrong.empty()) write("▁ what the wrong view reads", palette.warning);
    return clicked;
  }

  void lane(std::size_t memory, const MarkedFloats& marked, std::optional<Index> wrong_float, float y,
            std::optional<Index>& under) const {
    const Palette& palette = context_.palette;
    const float u = context_.scale, mark = std::round(mark_units * u), height = std::round(lane_units * u);
    const float top = y + mark, bottom = top + height;
    // Neighbours of the same colour form one rectangle.
    const auto color_of = [&](Index place) { return memory_color(context_, scene_, float_at(memory, place)); };
    for (Index place = begin_; place < begin_ + count_;) {
      const Rgba8 color = color_of(place);
      Index end = std::min(begin_ + count_, (place / block_ + 1) * block_);
      while (end < begin_ + count_ && color_of(end) == color) end = std::min(begin_ + count_, end + block_);
      const float left = std::floor(x_of(place)), right = std::floor(x_of(end));
      paint_.fill({left, top}, {std::max(left + 1.0f, right - (right - left > 4 ? 1.0f : 0.0f)), bottom},
                  color);
      place = end;
    }
    marks(memory, marked.right, y, palette.focus);
    if (memory == 0) marks(memory, marked.wrong, bottom + std::round(u), palette.warning);
    const auto needle = [&](Index first_float, Rgba8 color) {
      const Index place = place_in(memory, first_float);
      if (place < begin_ || place >= begin_ + count_) return;
      const float half = std::max(1.0f, std::round(u));
      const float x = std::floor(x_of(place) + 0.5f * (x_of(place + 1) - x_of(place)));
      paint_.fill({x - half - 1, y - 1}, {x + half + 1, bottom + mark + 1}, palette.panel);
      paint_.fill({x - half, y}, {x + half, bottom + mark}, color);
    };
    if (wrong_float && memory == 0) needle(*wrong_float, palette.warning);
    needle(scene_.first_float, palette.focus);
    const Box box({float(area_.x), y}, {float(area_.x + area_.width), bottom + mark});
    ui_probe(fmt::format("stage/memory/lane/{}", memory), box);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsWindowHovered() && box.has(mouse)) {
      const auto place = begin_ + static_cast<Index>((mouse.x - box.min.x) / box.width() * float(count_));
      under = float_at(memory, std::clamp<Index>(place, begin_, begin_ + count_ - 1));
    }
  }

  // Bars above or below the lane, one per run of contiguous floats.
  void marks(std::size_t memory, const std::vector<Index>& floats, float y, Rgba8 color) const {
    std::vector<Index> places;
    places.reserve(floats.size());
    for (const Index each : floats) places.push_back(place_in(memory, each));
    std::ranges::sort(places);
    const float height = std::round((mark_units - 1.0f) * context_.scale), least = context_.hairline(1.5f);
    for (std::size_t i = 0; i < places.size();) {
      std::size_t end = i + 1;
      while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
      const Index first = std::max(places[i], begin_), last = std::min(places[end - 1] + 1, begin_ + count_);
      if (first < last) {
        const float left = std::floor(x_of(first));
        paint_.fill(
            {left, y},
            {std::max(left + least, std::floor(x_of(last)) - (last - first > 1 ? 1.0f : 0.0f)), y + height},
            color);
      }
      i = end;
    }
  }

  // The floats around the focused one, large enough for their offsets.
  void cells(float y, std::optional<Index> wrong_float, std::optional<Index>& under) const {
    ImFont* mono = context_.fonts.mono_small;
    const float u = context_.scale, height = cells_height(context_);
    const float width = width_of(mono, std::to_string(scene_.floats() - 1)) + 7.0f * u;
    const Index count = std::min(scene_.floats(), std::max<Index>(1, static_cast<Index>(area_.width / width)));
    const Index first = std::clamp<Index>(state_.middle - count / 2, 0, scene_.floats() - count);
    const float begin = float(area_.x);
    const auto left_of = [&](Index i) { return std::floor(begin + width * float(i - first)); };
    const auto outline = [&](Index which, Rgba8 color) {
      if (which < first || which >= first + count) return;
      paint_.outline({left_of(which) - u, y - u}, {left_of(which + 1), y + height + u}, color,
                     std::max(2.0f, std::round(2 * u)));
    };
    for (Index i = first; i < first + count; ++i) {
      const Rgba8 color = memory_color(context_, scene_, i);
      paint_.fill({left_of(i), y}, {left_of(i + 1) - 1.0f, y + height}, color);
      paint_.text_beside(mono, {0.5f * (left_of(i) + left_of(i + 1) - 1.0f), y + 0.5f * height},
                         ink_on(color), std::to_string(i), Align::middle);
    }
    if (wrong_float) outline(*wrong_float, context_.palette.warning);
    outline(scene_.first_float, context_.palette.focus);
    const Box box({begin, y}, {left_of(first + count), y + height});
    ui_probe("stage/memory/floats", box);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsWindowHovered() && box.has(mouse))
      under =
          std::clamp<Index>(first + static_cast<Index>((mouse.x - begin) / width), first, first + count - 1);
  }

  const PanelContext& context_;
  MemoryStripState& state_;
  const MemoryScene& scene_;
  RectF area_;
  Painter paint_;
  Index block_ = 1, count_ = 1, begin_ = 0;
};

}  // namespace

void draw_reading_cells(const PanelContext& context, const MemoryReading& reading) {
  const Painter paint = context.painter();
  const PlaneGeometry& plane = reading.plane;
  const std::vector<Rgba8>& colors = reading.colors();
  const bool cells = plane.width >= 5 * static_cast<int>(plane.cols);
  for (Index row = 0; row < plane.rows; ++row) {
    const auto color_of = [&](Index col) { return colors[static_cast<std::size_t>(row * plane.cols + col)]; };
    for (Index col = 0; col < plane.cols;) {
      Index end = col + 1;
      while (!cells && end < plane.cols && color_of(end) == color_of(col)) ++end;
      const RectF rect = plane.rect({row, row + 1, col, end});
      paint.fill({float(rect.x), float(rect.y)},
                 {float(rect.x + rect.width), float(rect.y + rect.height) - (plane.gap > 0 ? 0.0f : 1.0f)},
                 color_of(col));
      col = end;
    }
  }
  draw_offsets(context, reading);
  if (reading.looked_at) {
    const Rgba8 color = reading.wrong ? context.palette.warning : context.palette.focus;
    draw_box_outline(paint, plane, *reading.looked_at, im_color(color),
                     std::max(2.0f, std::round(2.0f * context.palette.stroke * context.scale)));
  }
}

void draw_reading_words(const PanelContext& context, const MemoryReading& reading, float width,
                        bool says_owner) {
  const MemoryScene& scene = reading.scene;
  const MemoryWindow& window = reading.window;
  const PlaneGeometry& plane = reading.plane;
  const bool wrong = reading.wrong;
  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  ImFont* mono = context.fonts.mono_small;
  ImFont* small = context.fonts.small;
  const float line = std::round(mono->FontSize * 1.3f), x = float(plane.x);
  const float title = float(plane.y) - line - 2.0f * context.scale;
  const std::string leading =
      scene.matrix.leading.empty() ? "" : fmt::format("[{}]", join(scene.matrix.leading, ","));
  const std::string name = wrong ? scene.order.wrong_code + leading : matrix_name(scene.matrix);
  const std::string fitted = fitted_text(name, mono, width);
  paint.text(mono, {x, title}, wrong ? palette.warning : tensor_hue(palette, scene.matrix.name.id), fitted);
  float end = x + width_of(mono, fitted) + 7.0f * context.scale;
  if (wrong) {
    const auto& right = window.right;
    const auto same = std::ranges::count(std::views::iota(std::size_t{0}, right.size()), true,
                                         [&](std::size_t i) { return right[i] == window.wrong[i]; });
    const std::string verdict = fmt::format("{} of {} correct", same, right.size());
    if (width_of(small, verdict) <= x + width - end)
      paint.text(small, {end, title}, palette.text_dim, verdict);
  } else {
    name_tensor(context, scene.matrix.name, {x, title}, {end, title + mono->FontSize + 3.0f});
    std::string sizes = matrix_sizes(scene.matrix);
    if (window.rows < scene.matrix.view.rows)
      sizes += fmt::format(", rows {} to {}", window.row_begin, window.row_begin + window.rows - 1);
    if (window.cols < scene.matrix.view.cols)
      sizes += fmt::format(", columns {} to {}", window.col_begin, window.col_begin + window.cols - 1);
    if (width_of(mono, sizes) <= x + width - end)
      draw_shape_text(context, mono, {end, title}, palette.text_dim, sizes);
  }
  const auto& states = wrong ? scene.order.wrong : scene.order.states;
  float y = float(plane.y + plane.height) + 4.0f * context.scale;
  auto formulas = offset_formulas(states, scene.cell);
  const bool all_fit =
      std::ranges::all_of(formulas, [&](const std::string& each) { return width_of(mono, each) <= width; });
  if (!all_fit) formulas = offset_formulas(states, scene.cell, false);
  for (const std::string& formula : formulas) {
    paint.text(mono, {x, y}, wrong ? palette.warning : palette.text, fitted_text(formula, mono, width));
    y += line;
  }
  if (!says_owner) return;
  const Index shown = wrong ? float_of(states, states.size() - 1, scene.cell) : scene.first_float;
  paint.text(mono, {x, y}, palette.text_dim, fitted_text(owner_words(context, scene, shown), mono, width));
}

Rgba8 memory_color(const PanelContext& context, const MemoryScene& scene, Index first_float) {
  const Rgba8 neutral = context.palette.control;
  const std::optional<Index> head = head_of_float(scene.order, first_float);
  if (!head) return neutral;
  const std::vector<Index> own = scene.cell_of_float(first_float).index;
  const bool batched = scene.matrix.view.tensor->shape().name(0) == "N" && !scene.matrix.leading.empty();
  if (batched && own[0] != scene.matrix.leading[0]) return neutral;
  if (!colored_by_key(scene)) return head_color(context, *head, scene.order.heads);
  return *head == scene.map ? head_color(context, own[2], scene.matrix.view.cols) : neutral;
}

float memory_strips_height(const PanelContext& context, const MemoryStripParts& parts) {
  if (parts.lanes == 0) return 0.0f;
  return float(parts.lanes) * (caption_height(context) + lane_height(context)) +
         (parts.floats ? cells_height(context) : 0.0f) + 4.0f * context.scale;
}

std::optional<Index> draw_memory_strips(const PanelContext& context, MemoryStripState& state,
                                        const MemoryScene& scene, const MemoryStripParts& parts,
                                        const MarkedFloats& marked, std::optional<Index> wrong_float,
                                        RectF area, std::optional<Index>& under) {
  if (parts.lanes == 0) return std::nullopt;
  return Strips(context, state, scene, area).draw(parts, marked, wrong_float, under);
}

}  // namespace headwise
