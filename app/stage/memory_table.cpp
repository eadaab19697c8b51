#include "app/stage/memory_table.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "app/panels/named_text.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::array<const char*, 6> captions{"", "axes", "sizes", "strides", "cell", "float"};
constexpr std::size_t short_lines = 4;  // in the short form: without axes and cell
constexpr float smallest_text = 0.8f;   // of its usual size, before anything is cut

float line_height(const PanelContext& context) {
  return std::round(context.fonts.mono_small->FontSize * 1.3f);
}

std::string without_spaces(const std::string& text) {
  std::string narrow;
  for (const char c : text) {
    if (c != ' ' || !narrow.ends_with(',')) narrow += c;
  }
  return narrow;
}

// Without the spaces after commas if there is no room for them.
std::string narrowed(const std::string& text, ImFont* font, float width) {
  return width_of(font, text) <= width ? text : fitted_text(without_spaces(text), font, width);
}

const char* what_it_does(const MemoryState& state, std::size_t i) {
  if (i == 0) return "the tensor as it was made: row by row, its last axis contiguous";
  if (state.copied) return "rewrites every float, row by row: the only operation here that moves floats";
  if (state.code.starts_with(".contiguous")) return "its floats already lie row by row: nothing is copied";
  if (state.code.starts_with(".view") || state.code.starts_with(".reshape"))
    return "the same floats in the same order under different axes: no float moves";
  return "two axes swap places along with their strides: no float moves";
}

class Table {
 public:
  Table(const PanelContext& context, const MemoryScene& scene, ImVec2 at, float width, bool short_form)
      : context_(context),
        scene_(scene),
        at_(at),
        width_(width),
        short_(short_form),
        list_(ImGui::GetWindowDrawList()) {
    font_ = context.fonts.mono_small;
    caption_ = width_of(context.fonts.small, "strides") + 10.0f * context.scale;
    columns_ = scene.order.states.size() + (scene.order.wrong.empty() ? 0 : 1);
    pitch_ = (width - caption_) / static_cast<float>(columns_);
  }

  void draw() const {
    const float line = line_height(context_);
    ImFont* small = context_.fonts.small;
    float y = at_.y;
    for (const std::string_view caption : captions) {
      if (short_ && (caption == "axes" || caption == "cell")) continue;
      list_->AddText(small, small->FontSize, {at_.x, y}, im_color(context_.palette.text_dim), caption.data());
      y += line;
    }
    const auto& states = scene_.order.states;
    for (std::size_t i = 0; i < states.size(); ++i) column(states, i, i, false);
    if (!scene_.order.wrong.empty())
      column(scene_.order.wrong, scene_.order.wrong.size() - 1, states.size(), true);
  }

 private:
  // Text that is too wide is first made smaller, then cut.
  float size_for(const std::string& text, float room) const {
    const float width = width_of(font_, without_spaces(text));
    return font_->FontSize * std::clamp(room / std::max(width, 1.0f), smallest_text, 1.0f);
  }
  void column(const std::vector<MemoryState>& states, std::size_t state, std::size_t place, bool wrong) const {
    const Palette& palette = context_.palette;
    const MemoryState& shown = states[state];
    const float x = std::floor(at_.x + caption_ + pitch_ * static_cast<float>(place));
    const float room = pitch_ - 12.0f * context_.scale, line = line_height(context_);
    const Shape shape = shown.layout.shape();
    // For the wrong reading the same cell is shown, for the others the same float.
    const std::vector<Index> cell = wrong ? scene_.cell : cell_of(states, state, scene_.first_float);
    const Index lies_at = shown.layout.offset(cell);
    const Index float_there = wrong ? float_of(states, state, cell) : scene_.first_float;
    const bool differs = float_there != scene_.first_float;

    std::string code = narrowed(wrong ? "wrong: " + shown.code : shown.code, font_, room);
    if (code.ends_with("…")) code = narrowed(shown.code, font_, room / smallest_text);
    const Rgba8 head = wrong ? palette.warning : palette.text;
    float y = at_.y;
    const auto write = [&](const std::string& text, Rgba8 color) {
      const float size = size_for(text, room);
      list_->AddText(font_, size, {x, y + 0.5f * (font_->FontSize - size)}, im_color(color),
                     narrowed(text, font_, room * font_->FontSize / size).c_str());
      y += line;
    };
    write(code, head);
    const bool letters_fit = width_of(font_, shape.letters()) <= room;
    if (!short_ && letters_fit) {
      draw_shape_text(context_, list_, font_, {x, y}, palette.text_dim, shape.letters());
      y += line;
    } else if (!short_) {
      write(shape.letters(), palette.text_dim);
    }
    write(shape.sizes_text(), palette.text_dim);
    const bool new_strides =
        state > 0 && shown.layout.strides_text() != states[state - 1].layout.strides_text();
    write(shown.layout.strides_text(), wrong         ? palette.warning
                                       : new_strides ? palette.text
                                                     : palette.text_dim);
    if (!short_) write(fmt::format("[{}]", join(cell, ",")), palette.text_dim);
    std::string where = fmt::format("{}", float_there);
    if (lies_at != float_there) where += fmt::format(" → at {}", lies_at);
    write(where, differs ? palette.warning : palette.text);

    const ImVec2 max(x + room, at_.y + memory_table_height(context_, short_));
    const std::string id = fmt::format("memory/{}", wrong ? "wrong" : std::to_string(place));
    ImGui::SetCursorScreenPos({x, at_.y});
    ImGui::PushID(id.c_str());
    ImGui::Dummy({std::max(room, 1.0f), line});
    ImGui::PopID();
    tooltip(context_.widgets(), wrong ? fmt::format("{}: the right shape, but a different float in this cell",
                                                    scene_.order.wrong_code)
                                      : std::string(what_it_does(shown, state)));
    ui_probe("stage/" + id, {x, at_.y}, {x + room, at_.y + line});
    if (wrong) {
      const float left = x - 8.0f * context_.scale;
      list_->AddLine({left, at_.y}, {left, max.y}, im_color(palette.text_faint), context_.scale);
    }
  }

  const PanelContext& context_;
  const MemoryScene& scene_;
  ImVec2 at_;
  float width_ = 0.0f, caption_ = 0.0f, pitch_ = 0.0f;
  bool short_ = false;
  std::size_t columns_ = 1;
  ImDrawList* list_;
  ImFont* font_ = nullptr;
};

}  // namespace

float memory_table_height(const PanelContext& context, bool short_form) {
  return line_height(context) * static_cast<float>(short_form ? short_lines : captions.size());
}

void draw_memory_table(const PanelContext& context, const MemoryScene& scene, ImVec2 at, float width,
                       bool short_form) {
  Table(context, scene, at, width, short_form).draw();
}

}  // namespace headwise
