// The fonts of the window: DejaVu, embedded in the program, rendered with FreeType, at the design's sizes.
#pragma once

#include <memory>
#include <set>
#include <string_view>

#include <imgui.h>

namespace headwise {

// Sizes in design units from the highest ascender to the lowest descender. Valid as long as their atlas; an
// ImGuiLifetime makes a new one when its scale changes,
// so keep a reference to its struct and not the pointers.
struct Fonts {
  ImFont* sans = nullptr;        // 15: text, labels, tokens
  ImFont* bold = nullptr;        // 15: what is selected
  ImFont* mono = nullptr;        // 14: numbers, shapes, code
  ImFont* title = nullptr;       // 20, bold: the step's name
  ImFont* formula = nullptr;     // 24: the step's formula
  ImFont* caption = nullptr;     // 18: the caption of a page
  ImFont* small = nullptr;       // 13: captions, axis labels
  ImFont* mono_small = nullptr;  // 12: sizes next to names, digits in cells
  // 34: the sentence of the opening scene, and a page's words in a hall; Latin letters,
  // punctuation and a few signs
  ImFont* display = nullptr;
  ImFont* display_bold = nullptr;
};

// The fonts as glyph images, at one scale. Building it takes about 0.1 s, needs neither an ImGui nor a GL
// context, and may be done on another thread as long as no ImGui context exists.
class FontAtlas {
 public:
  // scale: pixels per design unit. Every font has Latin, Greek, Cyrillic, superscripts and subscripts,
  // arrows, mathematical operators and geometric shapes; sans and bold also have DejaVu's other scripts, for
  // the user's own text. `others`: characters that these lack, added to all but the formula font,
  // each from a system font that has it.
  explicit FontAtlas(float scale, const std::set<char32_t>& others = {});

  float scale() const { return scale_; }
  const std::set<char32_t>& others() const { return others_; }
  const Fonts& fonts() const { return fonts_; }
  ImFontAtlas& glyphs() { return glyphs_; }  // sans is its first font and so ImGui's default

 private:
  ImFontAtlas glyphs_;
  Fonts fonts_;
  float scale_;
  std::set<char32_t> others_;
};

// The atlas with these fonts. The last few are kept: a hall and the desk, a picture and the window differ in
// their scale, and one goes from one to the other and back. Can be called on any thread.
std::shared_ptr<FontAtlas> font_atlas(float scale, const std::set<char32_t>& others = {});

// Characters that the fonts of an ImGui context lack, recorded while a frame is made: ImGuiLifetime adds them
// from system fonts before the next one.

// What io.UserData points to in each of the program's ImGui contexts.
struct NeededCharacters {
  std::set<char32_t> characters;  // all that were needed so far and that a system font has
  bool unsettled = false;         // some are new since the fonts were built
};

// Records which characters of a text (UTF-8) `font` lacks, for the current ImGui context. The limit is 1,500
// characters: as many as fit into a texture that every driver supports, at five pixels per design unit.
void need_characters(std::string_view text, const ImFont& font);

}  // namespace headwise
