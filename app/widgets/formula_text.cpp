#include "app/widgets/formula_text.h"

#include <cmath>

#include "app/widgets/measure.h"
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
    if (!behind.empty() && word.size() == 1 && behind.size() == 1) {
      // W_q, b_O: a letter with an index.
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

}  // namespace headwise
