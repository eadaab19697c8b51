// The fonts of the window: DejaVu from the program itself, drawn by FreeType, at the sizes of the design.
#pragma once

#include <imgui.h>

namespace headwise {

// Valid while the ImGuiLifetime lives that made them; rebuilt in place when its scale changes, so keep a
// reference to the struct and not the pointers.
struct Fonts {
  ImFont* sans = nullptr;        // 15: text, labels, tokens
  ImFont* bold = nullptr;        // 15: what is chosen
  ImFont* mono = nullptr;        // 14: numbers, shapes, code
  ImFont* title = nullptr;       // 20, bold: the step's name
  ImFont* formula = nullptr;     // 24: the step's formula
  ImFont* small = nullptr;       // 13: captions, axis labels
  ImFont* mono_small = nullptr;  // 12: sizes beside names, digits in cells
};

// Adds every font to the atlas, which must be empty, at `scale` pixels per design unit, and builds it with
// FreeType. sans becomes the default. Every font has Latin, Greek, Cyrillic, superscripts and subscripts,
// arrows, mathematical operators and geometric shapes; sans and bold also have the other scripts of DejaVu,
// for the person's own words.
Fonts build_fonts(ImFontAtlas& atlas, float scale);

}  // namespace headwise
