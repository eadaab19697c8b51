// The fonts of the window: DejaVu from the program itself, drawn by FreeType, at the sizes of the design.
#pragma once

#include <imgui.h>

#include <set>

namespace headwise {

// Design units from the highest ascender to the lowest descender. Valid as long as their atlas; an
// ImGuiLifetime makes a new one when its scale changes, so keep a reference to its struct and not the
// pointers.
struct Fonts {
  ImFont* sans = nullptr;        // 15: text, labels, tokens
  ImFont* bold = nullptr;        // 15: what is chosen
  ImFont* mono = nullptr;        // 14: numbers, shapes, code
  ImFont* title = nullptr;       // 20, bold: the step's name
  ImFont* formula = nullptr;     // 24: the step's formula
  ImFont* caption = nullptr;     // 18: what a teacher says on a page
  ImFont* small = nullptr;       // 13: captions, axis labels
  ImFont* mono_small = nullptr;  // 12: sizes beside names, digits in cells
};

// The fonts as pictures of their glyphs, at one scale. Building it takes about 0.1 s, needs neither a context
// of ImGui nor one of GL, and may be done in another thread as long as no context of ImGui exists.
class FontAtlas {
 public:
  // scale: pixels per design unit. Every font has Latin, Greek, Cyrillic, superscripts and subscripts,
  // arrows, mathematical operators and geometric shapes; sans and bold also have the other scripts of DejaVu,
  // for the person's own words.
  // `others`: characters that these lack, for all but the formula; each from the font of the system that has it.
  explicit FontAtlas(float scale, const std::set<char32_t>& others = {});

  float scale() const { return scale_; }
  const Fonts& fonts() const { return fonts_; }
  ImFontAtlas& glyphs() { return glyphs_; }  // sans is its first font and so ImGui's default

 private:
  ImFontAtlas glyphs_;
  Fonts fonts_;
  float scale_;
};

}  // namespace headwise
