#include "app/panels/opening_scene.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/content/motion.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/export/color_map.h"
#include "core/scenario/presets.h"

namespace headwise {

void begin_opening(OpeningState& state, OpeningSubject subject) {
  state = {};
  state.subject = std::move(subject);
  state.shown = true;
}

void observe_opening(OpeningState& state, const ComputationPtr& computation) {
  if (!state.shown || state.row_of == computation) return;
  std::optional<OpeningRow> row = opening_row(*state.subject, computation);
  state.row_of = computation;
  // What is unfolding keeps the row that it began with.
  if (state.unfolding && state.row) return;
  if (!row) {
    state.shown = false;
    return;
  }
  if (state.row) {
    state.previous = std::move(state.row);
    state.swung = 0.0;
  }
  state.row = std::move(row);
}

void unfold_opening(OpeningState& state) {
  if (!state.shown) return;
  state.unfolding = true;
  state.grown = state.swung = 1.0;
}

bool advance_opening(OpeningState& state, double seconds, bool still) {
  if (!state.shown) return false;
  const auto advance = [&](double& progress, double duration, bool at_once) {
    progress = at_once ? 1.0 : std::min(1.0, progress + seconds / duration);
  };
  advance(state.grown, opening_grow_seconds, still);
  advance(state.swung, opening_swing_seconds, still);
  if (state.unfolding) {
    advance(state.unfolded, opening_unfold_seconds, false);
    if (state.unfolded >= 1.0) state.shown = state.unfolding = false;
  }
  return state.shown && (state.grown < 1.0 || state.swung < 1.0 || state.unfolding);
}

namespace {

// The opening scene as a picture: what is drawn in it, each part with its own opacity,
// so that it can fade into the stage.

class OpeningPicture {
 public:
  // The state must have a row, and outlive the picture.
  OpeningPicture(const WidgetContext& context, const OpeningState& state, ImVec2 size);

  // opacity in [0,1]
  void draw_name(ImDrawList* list, float opacity) const;
  void draw_arcs(ImDrawList* list, float opacity) const;
  void draw_words(ImDrawList* list, float opacity) const;
  void draw_weights(ImDrawList* list, float opacity) const;
  void draw_text(ImDrawList* list, float opacity) const;
  // The words and the feet of the arcs on their way to the map; `share` of it is done.
  void draw_flight(ImDrawList* list, const OpeningTarget& target, double share) const;

  const OpeningLayout& layout() const { return layout_; }
  // The word that can be exchanged, with its mark below it; what is below the text, for buttons.
  RectF swap_area() const;
  ImVec2 buttons() const { return buttons_; }  // the middle of their line's top

 private:
  struct Line {
    std::string text;
    ImFont* font;
    bool dim;
    float above;  // space before it, in pixels
  };
  const OpeningRow& row() const { return *state_.row; }
  ImVec2 text_size(const Line& line) const;
  ImFont* word_font(std::size_t word) const;
  Rgba8 word_color(std::size_t word) const;
  double weight(std::size_t word) const;  // swinging from the previous row to this one
  float arc_width(double weight) const;

  const WidgetContext& context_;
  const OpeningState& state_;
  ImVec2 size_;
  ImFont* font_ = nullptr;  // of the sentence
  ImFont* bold_ = nullptr;
  std::vector<Line> lines_;  // below the sentence
  OpeningLayout layout_;
  ImVec2 buttons_;
};

// Design units
constexpr float margin = 28.0f, top_line = 56.0f, bottom_margin = 12.0f, arc_gap = 8.0f, button_line = 40.0f,
                chip_padding = 12.0f, widest_text = 1000.0f;

constexpr float least_height = 460.0f;  // with less, only the sentence, one line and the buttons
constexpr float thinnest_arc = 1.0f, thickest_arc = 24.0f;
constexpr double least_weight = 0.005;  // with less, no number is written

Rgba8 mixed(Rgba8 from, Rgba8 to, double share) {
  const auto channel = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  return {channel(from.r, to.r), channel(from.g, to.g), channel(from.b, to.b), 255};
}

ImVec2 between(ImVec2 a, ImVec2 b, float share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

ImVec2 point(PointF p) {
  return {float(p.x), float(p.y)};
}

void stroke(ImDrawList* list, const Arc& arc, double grown, ImU32 color, float width) {
  const std::vector<PointF> points = arc_points(arc, grown);
  for (const PointF& p : points) list->PathLineTo(point(p));
  list->PathStroke(color, 0, width);
}

OpeningPicture::OpeningPicture(const WidgetContext& context, const OpeningState& state, ImVec2 size)
    : context_(context), state_(state), size_(size) {
  const Fonts& fonts = context.fonts;
  const std::string& query = row().words[row().query].text;
  const bool roomy = size.y >= context.px(least_height);
  const ParametersSpec& parameters = state.subject->scenario.parameters;
  const auto trained = trained_head(parameters.file.value_or(""), parameters.layer, state.subject->found.head);
  lines_.push_back({fmt::format("One of the {} attention heads of a small trained model looks from “{}” to "
                                "the noun that “{}” stands for.",
                                state.subject->model_heads, query, query),
                    fonts.caption, false, context.px(26)});
  if (trained && !trained->taught.empty()) {
    std::string taught(trained->taught);
    taught[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(taught[0])));
    lines_.push_back({taught + ".", fonts.sans, true, context.px(10)});
  }
  if (roomy && !row().predicted.empty()) {
    std::string sentence = fmt::format("Asked what “{}” stands for, the model answers “{}” ({})", query,
                                       row().predicted, fmt::format("{:.2f}", row().probability));
    if (!row().without_head.empty())
      sentence += fmt::format("; with this head muted, {}“{}” ({})",
                              row().without_head == row().predicted ? "still " : "its best guess is ",
                              row().without_head, fmt::format("{:.2f}", row().probability_without_head));
    lines_.push_back({sentence + ".", fonts.sans, true, context.px(10)});
  }
  OpeningShape shape;
  shape.text_height = context.px(30 + button_line);
  for (const Line& line : lines_) shape.text_height += line.above + text_size(line).y;
  if (roomy) shape.text_height += context.px(46);
  shape.weight_height = fonts.caption->FontSize + fonts.sans->FontSize + context.px(22);
  const RectF area{context.px(margin), context.px(top_line), std::max(1.0f, size.x - 2 * context.px(margin)),
                   std::max(1.0f, size.y - context.px(top_line + bottom_margin))};
  for (const auto& [font, bold] :
       {std::pair{fonts.display, fonts.display_bold}, std::pair{fonts.formula, fonts.formula},
        std::pair{fonts.caption, fonts.caption}, std::pair{fonts.sans, fonts.bold}}) {
    font_ = font;
    bold_ = bold;
    shape.word_widths.clear();
    for (const OpeningWord& word : row().words)
      shape.word_widths.push_back(std::max(width_of(font, word.text), width_of(bold, word.text)));
    shape.word_widths[row().swapped] += 2 * context.px(chip_padding);
    shape.space = 0.42f * font->FontSize;
    shape.word_height = 1.25f * font->FontSize;
    layout_ = opening_layout(shape, area);
    if (layout_.lines == 1) break;
  }
  buttons_ = {0.5f * size.x,
              float(layout_.text.y + layout_.text.height) - context.px(button_line + (roomy ? 46.0f : 0.0f))};
}

ImVec2 OpeningPicture::text_size(const Line& line) const {
  const float wrap = std::min(context_.px(widest_text), size_.x - 2 * context_.px(margin));
  return line.font->CalcTextSizeA(line.font->FontSize, FLT_MAX, wrap, line.text.c_str());
}

double OpeningPicture::weight(std::size_t word) const {
  const double now = row().words[word].weight;
  if (!state_.previous || word >= state_.previous->words.size()) return now;
  const double before = state_.previous->words[word].weight;
  return before + eased(state_.swung) * (now - before);
}

float OpeningPicture::arc_width(double weight) const {
  return context_.px(thinnest_arc + (thickest_arc - thinnest_arc) * float(std::clamp(weight, 0.0, 1.0)));
}

ImFont* OpeningPicture::word_font(std::size_t word) const {
  return word == row().query || word == row().strongest ? bold_ : font_;
}

Rgba8 OpeningPicture::word_color(std::size_t word) const {
  return word == row().strongest ? context_.palette.bar
         : word == row().query   ? context_.palette.text
                                 : context_.palette.text_dim;
}

RectF OpeningPicture::swap_area() const {
  RectF area = layout_.words[row().swapped];
  const double mark = width_of(context_.fonts.sans, "⇄ " + row().other_word);
  const double grown = std::max(area.width, mark) - area.width;
  return {area.x - 0.5 * grown, area.y, area.width + grown,
          area.height + context_.fonts.caption->FontSize + context_.fonts.sans->FontSize + context_.px(14)};
}

void OpeningPicture::draw_name(ImDrawList* list, float opacity) const {
  ImFont* font = context_.fonts.title;
  list->AddText(font, font->FontSize, {context_.px(margin), std::round(context_.px(18))},
                im_color(context_.palette.text, opacity), "Headwise");
}

void OpeningPicture::draw_arcs(ImDrawList* list, float opacity) const {
  const Palette& palette = context_.palette;
  const double grown = eased(state_.grown);
  const std::size_t query = row().query, strongest = row().strongest;
  const std::size_t before = state_.previous ? state_.previous->strongest : strongest;
  for (std::size_t i = 0; i < row().words.size(); ++i) {
    if (i == query || i == strongest || (i == before && state_.swung < 1.0)) continue;
    stroke(list, opening_arc(layout_, query, i, context_.px(arc_gap)), grown,
           im_color(palette.text_faint, 0.7f * opacity), arc_width(weight(i)));
  }
  if (strongest == query) return;
  const Arc to = opening_arc(layout_, query, strongest, context_.px(arc_gap));
  const Arc arc =
      before == strongest || before == query
          ? to
          : arc_between(opening_arc(layout_, query, before, context_.px(arc_gap)), to, eased(state_.swung));
  const double from = state_.previous ? state_.previous->words[before].weight : row().words[strongest].weight;
  const double strength = from + eased(state_.swung) * (row().words[strongest].weight - from);
  const float width = arc_width(strength);
  const ImU32 color = im_color(palette.bar, opacity);
  stroke(list, arc, grown, color, width);
  // Round ends
  list->AddCircleFilled(point(arc[0]), 0.5f * width, color);
  list->AddCircleFilled(point(arc_points(arc, grown).back()), 0.5f * width, color);
}

void OpeningPicture::draw_words(ImDrawList* list, float opacity) const {
  const Palette& palette = context_.palette;
  const RectF& chip = layout_.words[row().swapped];
  list->AddRect(corner(chip), far_corner(chip), im_color(palette.text_dim, opacity),
                0.5f * float(chip.height), 0, std::max(1.0f, context_.px(1)));
  for (std::size_t i = 0; i < row().words.size(); ++i) {
    const RectF& at = layout_.words[i];
    ImFont* font = word_font(i);
    const std::string& text = row().words[i].text;
    const float x = float(at.x) + 0.5f * (float(at.width) - width_of(font, text));
    const float y = float(at.y) + 0.5f * (float(at.height) - font->FontSize);
    list->AddText(font, font->FontSize, {std::round(x), std::round(y)}, im_color(word_color(i), opacity),
                  text.c_str());
  }
}

void OpeningPicture::draw_weights(ImDrawList* list, float opacity) const {
  const auto centred = [&](ImFont* font, const std::string& text, const RectF& word, float y, Rgba8 color,
                           float shown) {
    const float x = float(word.x) + 0.5f * (float(word.width) - width_of(font, text));
    list->AddText(font, font->FontSize, {std::round(x), std::round(y)}, im_color(color, shown), text.c_str());
  };
  const auto appearing = float(phase(state_.grown, 0.6, 1.0)) * opacity;
  for (std::size_t i = 0; i < row().words.size(); ++i) {
    const RectF& word = layout_.words[i];
    const float y = float(word.y + word.height) + context_.px(4);
    const double weight = row().words[i].weight;
    if (weight >= least_weight)
      centred(context_.fonts.caption, fmt::format("{:.2f}", weight), word, y, word_color(i), appearing);
    if (i == row().swapped)
      centred(context_.fonts.sans, "⇄ " + row().other_word, word,
              y + context_.fonts.caption->FontSize + context_.px(2), context_.palette.text, opacity);
  }
}

void OpeningPicture::draw_text(ImDrawList* list, float opacity) const {
  const float wrap = std::min(context_.px(widest_text), size_.x - 2 * context_.px(margin));
  auto y = float(layout_.text.y);
  for (const Line& line : lines_) {
    y += line.above;
    const ImVec2 size = text_size(line);
    list->AddText(line.font, line.font->FontSize, {std::round(0.5f * (size_.x - size.x)), std::round(y)},
                  im_color(line.dim ? context_.palette.text_dim : context_.palette.text, opacity),
                  line.text.c_str(), nullptr, wrap);
    y += size.y;
  }
  if (size_.y < context_.px(least_height)) return;
  ImFont* font = context_.fonts.small;
  const char* const foot = "Widths and numbers are attention weights, computed now on this computer.";
  list->AddText(font, font->FontSize,
                {std::round(0.5f * (size_.x - width_of(font, foot))),
                 std::round(size_.y - context_.px(18) - font->FontSize)},
                im_color(context_.palette.text_dim, opacity), foot);
}

void OpeningPicture::draw_flight(ImDrawList* list, const OpeningTarget& target, double share) const {
  const auto far = float(eased(share));
  ImFont* small = context_.fonts.small;
  const auto word_fades = float(1.0 - phase(share, 0.6, 1.0));
  const auto fly = [&](std::size_t i, ImVec2 to, Rgba8 color) {
    const RectF& at = layout_.words[i];
    ImFont* font = word_font(i);
    const std::string& text = row().words[i].text;
    const float height = font->FontSize + far * (small->FontSize - font->FontSize);
    const ImVec2 from{float(at.x + 0.5 * at.width), float(at.y + 0.5 * at.height)};
    const ImVec2 middle = between(from, to, far);
    list->AddText(font, height, {middle.x - 0.5f * width_of(font, text, height), middle.y - 0.5f * height},
                  im_color(color, word_fades), text.c_str());
  };
  const ColorTable& colors = color_table(target.color_map, target.theme);
  for (std::size_t i = 0; i < row().words.size(); ++i) {
    const OpeningWord& word = row().words[i];
    if (word.position >= target.map.cols) continue;
    const RectF cell = target.map.cell(target.row, word.position);
    // The foot of the arc becomes the cell.
    const RectF& at = layout_.words[i];
    const float side = arc_width(word.weight);
    const ImVec2 foot{float(at.x + 0.5 * at.width), float(at.y) - context_.px(arc_gap)};
    const ImVec2 min = between({foot.x - 0.5f * side, foot.y - 0.5f * side}, corner(cell), far);
    const ImVec2 max = between({foot.x + 0.5f * side, foot.y + 0.5f * side}, far_corner(cell), far);
    const Rgba8 from = i == row().strongest ? context_.palette.bar : context_.palette.text_faint;
    list->AddRectFilled(min, max, im_color(mixed(from, color_at(word.weight, target.range, colors), far)));
    fly(i, {float(cell.x + 0.5 * cell.width), float(target.map.y + target.map.height) + context_.px(12)},
        word_color(i));
    if (i == row().query) {
      const float left = float(target.map.x) - 0.5f * width_of(small, word.text) - context_.px(8);
      fly(i, {left, float(cell.y + 0.5 * cell.height)}, context_.palette.text);
    }
  }
}

constexpr const char* how = "How?  ⏎";
constexpr const char* own_sentence = "Type your own sentence";
constexpr const char* skip = "Skip intro →";

float large_button_width(const WidgetContext& context, const char* label) {
  return std::ceil(width_of(context.fonts.sans, label) + 2 * context.px(22));
}

// `main`: the one to press. Returns whether it was.
bool large_button(const WidgetContext& context, const char* id, const char* label, ImVec2 at, bool main) {
  ImFont* font = context.fonts.sans;
  const Palette& palette = context.palette;
  const ImVec2 size{large_button_width(context, label), std::round(context.px(40))};
  ImGui::SetCursorScreenPos(at);
  bool pressed = ImGui::InvisibleButton(id, size);
  ui_probe_item(id);
  const bool hovered = ImGui::IsItemHovered();
  if (focus_stop(context.focus, ImGui::GetID(id), FocusKeys::press) && press_key_pressed()) pressed = true;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  const float round = 0.5f * size.y;
  const Rgba8 ground =
      main ? (hovered ? palette.text_dim : palette.text) : (hovered ? palette.control : palette.window);
  list->AddRectFilled(at, end, im_color(ground), round);
  if (!main)
    list->AddRect(at, end, im_color(palette.text_dim), round, 0, std::max(1.0f, std::floor(context.scale)));
  list->AddText(font, font->FontSize,
                {std::round(0.5f * (at.x + end.x - width_of(font, label))),
                 std::round(0.5f * (at.y + end.y - font->FontSize))},
                im_color(main ? palette.window : palette.text), label);
  return pressed;
}

bool swap_button(const WidgetContext& context, const OpeningPicture& picture) {
  const RectF area = picture.swap_area();
  ImGui::SetCursorScreenPos(corner(area));
  bool pressed = ImGui::InvisibleButton("opening/swap", {float(area.width), float(area.height)});
  ui_probe_item("opening/swap");
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  tooltip(context,
          "swap in the other word: the sentence then means something else, and the head looks elsewhere");
  if (focus_stop(context.focus, ImGui::GetID("opening/swap"), FocusKeys::press) && press_key_pressed())
    pressed = true;
  return pressed;
}

}  // namespace

OpeningAction draw_opening(const WidgetContext& context, const OpeningState& state, ImVec2 size) {
  OpeningAction action;
  if (!state.row) return action;
  const OpeningPicture picture(context, state, size);
  ImDrawList* list = ImGui::GetWindowDrawList();
  picture.draw_name(list, 1.0f);
  picture.draw_arcs(list, 1.0f);
  picture.draw_words(list, 1.0f);
  picture.draw_weights(list, 1.0f);
  picture.draw_text(list, 1.0f);
  for (std::size_t i = 0; i < picture.layout().words.size(); ++i)
    ui_probe("opening/word", static_cast<int>(i), picture.layout().words[i]);
  ui_probe("opening/strongest/" + state.row->words[state.row->strongest].text,
           picture.layout().words[state.row->strongest]);

  action.swap = swap_button(context, picture);
  const float gap = context.px(14);
  const float wide = large_button_width(context, how) + gap + large_button_width(context, own_sentence);
  ImVec2 at{std::round(picture.buttons().x - 0.5f * wide), std::round(picture.buttons().y)};
  const bool fits = wide <= size.x;
  if (!fits) at.x = std::round(picture.buttons().x - 0.5f * large_button_width(context, how));
  if (large_button(context, "opening/how", how, at, true)) action.unfold = true;
  at.x += large_button_width(context, how) + gap;
  if (fits && large_button(context, "opening/own", own_sentence, at, false)) action.own_sentence = true;
  const float skip_width = std::ceil(width_of(context.fonts.small, skip) + 2 * context.px(12));
  ImGui::SetCursorScreenPos({size.x - skip_width - context.px(16), std::round(context.px(16))});
  if (text_button(context, "opening/skip", skip, ButtonLook::plain)) action.unfold = true;
  ui_probe_item("opening/skip");
  return action;
}

void draw_unfolding(const WidgetContext& context, const OpeningState& state, ImVec2 size,
                    const std::optional<OpeningTarget>& target) {
  if (!state.row) return;
  const OpeningPicture picture(context, state, size);
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const double done = state.unfolded;
  const auto left = float(1.0 - eased(done));
  list->AddRectFilled({0, 0}, size, im_color(context.palette.window, left));
  const auto soon = float(1.0 - phase(done, 0.0, 0.35));
  picture.draw_name(list, soon);
  picture.draw_text(list, soon);
  picture.draw_weights(list, soon);
  picture.draw_arcs(list, target ? float(1.0 - phase(done, 0.0, 0.5)) : left);
  if (target)
    picture.draw_flight(list, *target, done);
  else
    picture.draw_words(list, left);
  ui_probe("opening/unfolding", {0, 0}, size);
}

}  // namespace headwise
