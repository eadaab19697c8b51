#include "app/inspector/term_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "app/content/stage_matrix.h"
#include "app/session/commands.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

using Id = TensorId;

// Widths are measured for this many terms; the rest are smaller.
constexpr std::size_t most_measured = 400;
constexpr float sign_letters = 2.2f;  // the width of a sign with its padding, in digits

// A softmax's term is a function of its one factor.
bool is_exponential(const NamedTerm& term, Combine combine) {
  return combine == Combine::softmax && term.values.size() == 1;
}

std::string exponential_text(double score, int decimals) {
  return fmt::format("exp({} − max)", decimal_text(score, decimals));
}

// The rows of in_proj_weight belong to q, k or v, as other tensors do by name.
Rgba8 cell_hue(const PanelContext& context, const CellRef& cell) {
  if (cell.tensor.id != Id::in_proj_weight && cell.tensor.id != Id::in_proj_bias) {
    return tensor_hue(context.palette, cell.tensor.id);
  }
  const AttentionOptions& o = context.trace.options;
  const Index row = cell.index.empty() ? 0 : cell.index.front();
  const Index q_rows = o.num_heads * o.head_dim, k_rows = o.num_kv_heads * o.head_dim;
  return tensor_hue(context.palette, row < q_rows ? Id::q : row < q_rows + k_rows ? Id::k : Id::v);
}

// A number of a term as written: its factors from the left; a single factor is the number itself.
struct Written {
  std::string text;
  std::optional<std::size_t> factor;  // none: a function of the factor, which has no number of its own
};

std::vector<Written> written_factors(const NamedTerm& term, Combine combine, int decimals) {
  if (is_exponential(term, combine)) return {{exponential_text(term.values[0], decimals), std::nullopt}};
  std::vector<Written> all;
  for (std::size_t i = 0; term.values.size() > 1 && i < term.values.size(); ++i)
    all.push_back({decimal_text(term.values[i], decimals), i});
  return all;
}

TermWidths widths_of(const PanelContext& context, const CellTerms& terms, Combine combine, int decimals) {
  ImFont* mono = context.fonts.mono_small;
  TermWidths widths{decimals, 0.0f, 0.0f, {}};
  const std::size_t measured = std::min(terms.largest.size(), most_measured);
  for (std::size_t t = 0; t < measured; ++t) {
    const NamedTerm& term = terms.largest[t];
    widths.name = std::max(widths.name, width_of(context.fonts.small, term.name) + context.scale);
    widths.value = std::max(widths.value, width_of(mono, decimal_text(term.value, decimals)));
    const std::vector<Written> factors = written_factors(term, combine, decimals);
    widths.factors.resize(std::max(widths.factors.size(), factors.size()));
    // Right-aligned: with fewer factors than the others, the last ones line up below theirs.
    for (std::size_t i = 0; i < factors.size(); ++i) {
      float& width = widths.factors[widths.factors.size() - factors.size() + i];
      width = std::max(width, width_of(mono, factors[i].text));
    }
  }
  return widths;
}

std::string told(const PanelContext& context, const NamedTerm& term, std::size_t chosen) {
  std::string text;
  for (std::size_t i = 0; i < term.factors.size(); ++i) {
    text += fmt::format("{}{} = {}", i > 0 ? "\n× " : "", box_text(context.trace, box_of(term.factors[i])),
                        decimal_text(term.values[i]));
  }
  const std::string name = to_string(term.factors[chosen].tensor);
  return text + fmt::format("\nclick to go to this number in {}; {} goes back", name,
                            first_key_text(CommandId::go_back));
}

// The factor reached with the arrow keys on the focused line.
std::size_t factor_by_keys(FocusOrder& focus, std::size_t count) {
  if (focus.moved) focus.column = 0;
  if (key_pressed(Key::left)) --focus.column;
  if (key_pressed(Key::right)) ++focus.column;
  focus.column = std::clamp(focus.column, 0, static_cast<int>(count) - 1);
  return static_cast<std::size_t>(focus.column);
}

}  // namespace

std::string term_line_id(int line) {
  return fmt::format("term{}", line);
}

TermList::TermList(const PanelContext& context, const CellTerms& terms, Combine combine, float width,
                   float height)
    : context_(context), terms_(terms), combine_(combine), width_(width), height_(height) {
  const TermWidths choices[] = {widths_of(context, terms, combine, 3), widths_of(context, terms, combine, 2),
                                widths_of(context, terms, combine, 1)};
  const float sign = sign_letters * width_of(context.fonts.mono_small, "0");
  columns_ = term_columns(choices, width, sign, context.scale);
  for (const NamedTerm& term : terms.largest) {
    if (std::isfinite(term.value)) largest_ = std::max(largest_, std::abs(term.value));
  }
}

const CellRef* TermList::draw_line(int line, ImVec2 at) const {
  const NamedTerm& term = terms_.largest[static_cast<std::size_t>(line)];
  ImFont* font = context_.fonts.mono_small;
  ImFont* small = context_.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& palette = context_.palette;
  const float u = context_.scale;
  struct Placed {
    Written written;
    float begin, end;  // on the screen
  };
  std::vector<Placed> placed;
  const std::vector<Written> factors = written_factors(term, combine_, columns_.decimals);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const float* end = columns_.end_of(i, factors.size());
    if (end) placed.push_back({factors[i], at.x + *end - width_of(font, factors[i].text), at.x + *end});
  }

  const CellRef* clicked = nullptr;
  std::optional<std::size_t> lit;  // the factor that a click would lead to
  if (!term.factors.empty()) {
    ImGui::SetCursorScreenPos(at);
    const std::string id = term_line_id(line);
    const bool pressed = ImGui::InvisibleButton(id.c_str(), {width_, height_});
    const bool hovered = ImGui::IsItemHovered();
    const bool focused = focus_stop(context_.focus, ImGui::GetID(id.c_str()), FocusKeys::choose);
    ui_probe_item("inspector/term", line);
    std::size_t chosen = focused ? factor_by_keys(*context_.focus, term.factors.size()) : 0;
    if (hovered) {
      const float x = ImGui::GetIO().MousePos.x;
      chosen = 0;
      for (const Placed& each : placed) {
        const bool here = x >= each.begin - 4.0f * u && x < each.end + 4.0f * u;
        if (here && each.written.factor) chosen = *each.written.factor;
      }
    }
    if (hovered || focused) {
      list->AddRectFilled(at, {at.x + width_, at.y + height_}, im_color(palette.control_hover), 3.0f * u);
      for (const CellRef& factor : term.factors) {
        if (context_.pointing) context_.pointing->boxes.push_back(box_of(factor));
      }
      lit = chosen;
    }
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(context_.widgets(), told(context_, term, chosen));
    if (pressed || (focused && press_key_pressed())) clicked = &term.factors[chosen];
  }

  const float y = at.y + (height_ - font->FontSize) / 2;
  list->AddText(small, small->FontSize, ImVec2(at.x, at.y + (height_ - small->FontSize) / 2),
                im_color(palette.text_dim),
                fitted_text(drawable_text(term.name, small), small, columns_.name).c_str());
  const auto right_aligned = [&](const std::string& text, float end, Rgba8 color) {
    list->AddText(font, font->FontSize, ImVec2(std::floor(end - width_of(font, text)), y), im_color(color),
                  text.c_str());
  };
  right_aligned(decimal_text(term.value, columns_.decimals), at.x + columns_.value_end, palette.text);
  const float letter = width_of(font, "0");
  for (const Placed& each : placed) {
    const bool last = &each == &placed.back();
    right_aligned(last ? "=" : "×", each.end + 1.6f * letter, palette.text_dim);
    const Rgba8 hue =
        each.written.factor ? cell_hue(context_, term.factors[*each.written.factor]) : palette.text_dim;
    right_aligned(each.written.text, each.end, hue);
    if (lit && lit == each.written.factor) {
      const float under = std::floor(y + font->FontSize + 1.0f * u);
      list->AddLine({each.begin, under}, {each.end, under}, im_color(hue), u);
    }
  }
  if (largest_ > 0.0 && columns_.bar > 0.0f && std::isfinite(term.value)) {
    const float length = static_cast<float>(std::abs(term.value) / largest_) * columns_.bar;
    const ImVec2 from(at.x + columns_.bar_begin, at.y + height_ * 0.26f);
    const ImVec2 to(from.x + std::max(1.0f, length), at.y + height_ * 0.74f);
    const ColorTable& table = color_table(ColorMap::blue_orange, context_.theme);
    list->AddRectFilled(from, to, im_color(term.value < 0 ? table[64] : palette.bar));
  }
  return clicked;
}

}  // namespace headwise
