#include "app/widgets/text_column.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr float subscript_size = 0.7f;
constexpr float subscript_drop = 0.36f;  // of the font's size

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Bytes of a superscript or subscript character at the front of `text` (ₕ ᵀ ₀ ′), which belongs to the letter
// before it; 0 for none.
std::size_t script_length(std::string_view text) {
  for (const std::string_view sign : {"ₕ", "ᵀ", "₀", "₁", "₂", "ₑ", "ₛ", "′"}) {
    if (text.starts_with(sign)) return sign.size();
  }
  return 0;
}

FormulaHue hue_of(std::string_view word) {
  if (word == "q" || word == "Q" || word.starts_with("q_")) return FormulaHue::q;
  if (word == "k" || word == "K" || word.starts_with("k_")) return FormulaHue::k;
  if (word == "v" || word == "V" || word.starts_with("v_")) return FormulaHue::v;
  return FormulaHue::plain;
}

Rgba8 color_of(const Palette& palette, FormulaHue hue) {
  switch (hue) {
    case FormulaHue::q:
      return palette.q;
    case FormulaHue::k:
      return palette.k;
    case FormulaHue::v:
      return palette.v;
    case FormulaHue::plain:
      break;
  }
  return palette.text;
}

// Where an overlong line of code is broken: after a space that is not too far left, else after a bracket or
// before a dot there, else where it is full.
std::size_t code_break(const std::string& text, std::size_t most) {
  for (std::size_t cut = most; cut > most / 3; --cut) {
    if (text[cut - 1] == ' ') return cut;
  }
  for (std::size_t cut = most; cut > most / 3; --cut) {
    if (text[cut - 1] == '(' || text[cut] == '.') return cut;
  }
  return most;
}

// The identifier, dots included, at `x` pixels into a line of code; empty if there is none.
std::string word_at(ImFont* font, const std::string& line, float x) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const float letter = width_of(font, "0");
  const float column = x / letter;
  if (column < 0.0f || column >= float(line.size())) return "";
  auto begin = static_cast<std::size_t>(column);
  if (!is_part(line[begin])) return "";
  std::size_t end = begin;
  while (begin > 0 && is_part(line[begin - 1])) --begin;
  while (end < line.size() && is_part(line[end])) ++end;
  return line.substr(begin, end - begin);
}

}  // namespace

std::vector<FormulaRun> formula_runs(std::string_view formula) {
  std::vector<FormulaRun> runs;
  const auto add_plain = [&](std::string_view text, bool breaks) {
    if (!runs.empty() && runs.back().hue == FormulaHue::plain && !runs.back().subscript &&
        !runs.back().breaks && !breaks) {
      runs.back().text += text;
    } else {
      runs.push_back({std::string(text), FormulaHue::plain, false, breaks});
    }
  };
  std::size_t at = 0;
  while (at < formula.size()) {
    if (formula[at] == ' ') {
      add_plain(" ", true);
      ++at;
      continue;
    }
    if (!is_letter(formula[at])) {
      // One whole UTF-8 character.
      std::size_t end = at + 1;
      while (end < formula.size() && (static_cast<unsigned char>(formula[end]) & 0xC0U) == 0x80U) ++end;
      add_plain(formula.substr(at, end - at), false);
      at = end;
      continue;
    }
    std::size_t end = at;
    while (end < formula.size() && is_letter(formula[end])) ++end;
    const std::size_t word_end = end;
    while (end + 1 < formula.size() && formula[end] == '_' && is_letter(formula[end + 1])) {
      ++end;
      while (end < formula.size() && is_letter(formula[end])) ++end;
    }
    const std::string_view word = formula.substr(at, word_end - at);
    const std::string_view behind =
        end > word_end ? formula.substr(word_end + 1, end - word_end - 1) : std::string_view();
    std::size_t scripts = end;
    while (const std::size_t length = script_length(formula.substr(scripts))) scripts += length;
    const std::string script(formula.substr(end, scripts - end));
    if (!behind.empty() && word.size() == 1 && word != "q" && behind.size() == 1) {
      // W_q, b_O: a letter with an index. q_a is the name of a tensor.
      const FormulaHue hue = hue_of(behind);
      runs.push_back({std::string(word), hue, false, false});
      runs.push_back({std::string(behind), hue, true, false});
      if (!script.empty()) runs.push_back({script, hue, false, false});
    } else {
      const std::string_view name = formula.substr(at, end - at);
      const FormulaHue hue = hue_of(name);
      if (hue == FormulaHue::plain) {
        add_plain(std::string(name) + script, false);
      } else {
        runs.push_back({std::string(name) + script, hue, false, false});
      }
    }
    at = scripts;
  }
  return runs;
}

float draw_formula(const Painter& paint, ImVec2 at, float width, std::string_view formula, ImFont* font,
                   const FormulaRunSeen& seen) {
  const std::vector<FormulaRun> runs = formula_runs(formula);
  const float line = std::round(font->FontSize * 1.35f);
  const auto run_width = [&](const FormulaRun& run) {
    return width_of(font, run.text, run.subscript ? font->FontSize * subscript_size : font->FontSize);
  };
  float x = 0.0f, y = 0.0f;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // Runs up to the next space move to a new line together.
    if (!runs[i].breaks && (i == 0 || runs[i - 1].breaks)) {
      float together = 0.0f;
      for (std::size_t j = i; j < runs.size() && !runs[j].breaks; ++j) together += run_width(runs[j]);
      if (x > 0.0f && x + together > width) {
        x = 0.0f;
        y += line;
      }
    }
    if (paint.list && !runs[i].breaks) {
      const float size = runs[i].subscript ? font->FontSize * subscript_size : font->FontSize;
      const float drop = runs[i].subscript ? font->FontSize * subscript_drop : 0.0f;
      paint.text({font, size}, {at.x + x, at.y + y + drop}, color_of(paint.palette, runs[i].hue), runs[i].text);
      if (seen) {
        const ImVec2 min(at.x + x, at.y + y);
        seen(runs[i], min, ImVec2(min.x + run_width(runs[i]), min.y + line));
      }
    }
    if (!(runs[i].breaks && x == 0.0f)) x += run_width(runs[i]);
  }
  return runs.empty() ? 0.0f : y + line;
}

float formula_width(std::string_view formula, ImFont* font) {
  float width = 0.0f;
  for (const FormulaRun& run : formula_runs(formula)) {
    width += width_of(font, run.text, run.subscript ? font->FontSize * subscript_size : font->FontSize);
  }
  return width;
}

TextColumn::TextColumn(const WidgetContext& context)
    : context_(context), width_(ImGui::GetContentRegionAvail().x) {}

ImVec2 TextColumn::cursor() const {
  return ImGui::GetCursorScreenPos();
}

void TextColumn::skip(float pixels) {
  const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0.0f));
  ImGui::Dummy(ImVec2(width_, std::round(pixels)));
  ImGui::PopStyleVar();
}

void TextColumn::space(float units) {
  skip(context_.px(units));
}

void TextColumn::heading(std::string_view text) {
  ImFont* font = context_.fonts.small;
  need_characters(text, *font);
  // A hint at its end is left out rather than cut.
  if (width_of(font, text) > width_) text = text.substr(0, text.rfind(" · "));
  context_.painter().say(font, cursor(), context_.palette.text_dim, text);
  skip(font->FontSize + context_.px(8));
}

void TextColumn::paragraph(std::string_view text, Rgba8 color) {
  ui_text_probe(text, cursor());
  ImFont* font = context_.fonts.sans;
  const Painter paint = context_.painter();
  const float line = std::round(font->FontSize * 1.38f);
  const std::string lines = with_line_breaks(text, font, width_);
  const char* at = lines.data();
  const char* end = at + lines.size();
  while (at < end) {
    // A word wider than the column is broken where it is full.
    const char* stop = font->CalcWordWrapPositionA(1.0f, at, std::find(at, end, '\n'), width_);
    if (stop == at) ++stop;
    paint.text(font, cursor(), color, {at, stop});
    skip(line);
    at = stop;
    while (at < end && (*at == ' ' || *at == '\n')) ++at;
  }
}

void TextColumn::formula(std::string_view text, bool large, const FormulaRunSeen& seen) {
  ImFont* font = large && formula_width(text, context_.fonts.formula) <= width_ ? context_.fonts.formula
                                                                                : context_.fonts.sans;
  skip(draw_formula(context_.painter(), cursor(), width_, text, font, seen));
}

void TextColumn::row(std::string_view name, std::string_view number, std::string_view remark) {
  ImFont* sans = context_.fonts.sans;
  ImFont* mono = context_.fonts.mono;
  ImFont* small = context_.fonts.small;
  const Painter paint = context_.painter();
  const ImVec2 at = cursor();
  ui_text_probe(std::string(name).append(": ").append(number), at);
  if (!remark.empty())
    ui_text_probe(std::string(name).append(": ").append(number).append(" ").append(remark), at);
  const float line = std::round(sans->FontSize * 1.42f);
  const float remark_width = remark.empty() ? 0.0f : width_of(small, remark) + context_.px(8);
  const float number_x = at.x + width_ - remark_width - width_of(mono, number);
  const std::string fitted =
      fitted_text(std::string(name), sans, std::max(0.0f, number_x - at.x - context_.px(8)));
  paint.text(sans, at, context_.palette.text_dim, fitted);
  const float base = at.y + sans->FontSize;
  paint.text(mono, {number_x, base - mono->FontSize}, context_.palette.text, number);
  if (!remark.empty()) {
    paint.text(small, {at.x + width_ - width_of(small, remark), base - small->FontSize},
               context_.palette.text_dim, remark);
  }
  skip(line);
}

bool TextColumn::code(const char* id, const std::vector<Line>& lines, std::string* word) {
  ImFont* font = context_.fonts.mono_small;
  const Painter paint = context_.painter();
  const float pad = context_.px(10), line_height = std::round(font->FontSize * 1.5f);
  const auto columns = static_cast<std::size_t>(std::max(8.0f, (width_ - 2 * pad) / width_of(font, "0")));
  std::vector<Line> wrapped;
  std::string copied;
  for (const Line& line : lines) {
    for (std::string& part : wrapped_code(line.text, columns))
      wrapped.push_back({std::move(part), line.comment});
    copied += line.text + "\n";
  }
  const ImVec2 at = cursor();
  const float height = float(wrapped.size()) * line_height + 2 * pad - context_.px(4);
  const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0.0f));
  const auto [box, pressed, hovered, focused] = press_item(context_, id, {width_, height});
  ImGui::PopStyleVar();
  paint.fill(box, context_.palette.field, context_.px(4));
  paint.outline(box, hovered ? context_.palette.text_faint : context_.palette.border, 1.0f, context_.px(4));
  float y = at.y + pad;
  for (const Line& line : wrapped) {
    need_characters(line.text, *font);
    paint.text(font, {at.x + pad, y}, line.comment ? context_.palette.text_dim : context_.palette.text,
               line.text);
    if (word && hovered && !line.comment) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      if (mouse.y >= y && mouse.y < y + line_height) *word = word_at(font, line.text, mouse.x - at.x - pad);
    }
    y += line_height;
  }
  tooltip(context_, "click to copy");
  if (pressed) ImGui::SetClipboardText(copied.c_str());
  return pressed;
}

TextColumn::Link TextColumn::link(const char* id, std::string_view text, Rgba8 color, std::string_view tip) {
  ImFont* font = context_.fonts.mono_small;
  const ImVec2 at = cursor();
  const ImVec2 size(width_of(font, text), std::round(font->FontSize * 1.45f));
  Link link;
  const PressItem item = press_item(context_, id, size);
  link.clicked = item.pressed;
  if (item.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  link.hovered = item.hovered || item.focused;
  const Painter paint = context_.painter();
  paint.text(font, at, color, text);
  const float y = std::floor(at.y + font->FontSize + context_.px(2)) + 0.5f;
  paint.line({at.x, y}, {at.x + size.x, y}, link.hovered ? color : context_.palette.text_faint, context_.scale);
  tooltip(context_, tip);
  return link;
}

std::vector<std::string> wrapped_code(const std::string& line, std::size_t columns) {
  std::vector<std::string> lines;
  std::string rest = line;
  // Characters, not bytes: arrows and ᵀ have three bytes each.
  const auto bytes_of = [](const std::string& text, std::size_t characters) {
    std::size_t at = 0;
    for (std::size_t count = 0; at < text.size(); ++at) {
      if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U && count++ == characters) break;
    }
    return at;
  };
  columns = std::max<std::size_t>(columns, 8);
  while (true) {
    const std::size_t most = bytes_of(rest, columns);
    if (most >= rest.size()) break;
    std::size_t cut = code_break(rest, most);
    lines.push_back(rest.substr(0, cut));
    while (cut < rest.size() && rest[cut] == ' ') ++cut;
    rest = "  " + rest.substr(cut);
  }
  lines.push_back(rest);
  for (std::string& each : lines) {
    while (!each.empty() && each.back() == ' ') each.pop_back();
  }
  return lines;
}

}  // namespace headwise
