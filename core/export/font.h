// Text in the embedded DejaVu fonts, and in a system font for characters they lack:
// measured and painted from the same outlines.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/export/color_map.h"
#include "core/export/image.h"

namespace headwise {

enum class FontFace { sans, bold, mono };
enum class TextAnchor { start, middle, end };
// How much of its width a text reaches to the left of its anchor, in [0,1].
double anchor_share(TextAnchor anchor);

// In ems, for all three faces: how far letters reach above and below the baseline (accents on capitals reach
// slightly higher), and the height of capitals and digits.
constexpr double text_ascent = 0.78, text_descent = 0.24, cap_height = 0.729;

struct PointF {
  double x = 0, y = 0;
};
struct RectF {
  double x = 0, y = 0, width = 0, height = 0;
};

// One line. `degrees` rotates it clockwise about the baseline's anchor point.
struct TextItem {
  PointF baseline;
  std::string text;
  FontFace face = FontFace::sans;
  double size = 12;  // pixels per em
  Rgba8 color;
  TextAnchor anchor = TextAnchor::start;
  double degrees = 0;
};

// Width in pixels of a line of text. Unhinted, so that it is proportional to the size.
double text_width(const std::string& text, FontFace face, double size);

// The four corners of the bounding box of a text, clockwise from its upper left.
struct TextBox {
  PointF corners[4];
};
TextBox text_box(const TextItem& item);

// A font file in memory until the program ends, TrueType or CFF.
struct FontFile {
  std::span<const unsigned char> bytes;
  int index = 0;  // of the face in the file
};
// The file inside the program (DejaVu, TrueType), so that text looks the same on every machine and in every
// file.
std::span<const unsigned char> embedded_font(FontFace face);
// A character of a line of text, in the font that draws it.
struct LaidGlyph {
  char32_t character = 0;
  FontFile font;
  unsigned index = 0;  // of the glyph in its font
  double advance_em = 0.0;
};
// What draw_text paints, from left to right.
std::vector<LaidGlyph> laid_out(const std::string& text, FontFace face);

// Paints onto an opaque image, clipped to it. A character that no font has is drawn as DejaVu's empty box.
void draw_text(Image& image, const TextItem& item);

// System fonts for what the embedded ones lack: Chinese, Japanese, Korean and other scripts that users may
// write in. fontconfig decides which font has a character.

struct SystemFont {
  std::filesystem::path path;
  std::vector<unsigned char> file;  // TrueType or CFF, as read by FreeType from memory
  int index = 0;                    // of the face in the file
  double line_ems = 1.0;            // from its highest ascender to its lowest descender
};

// The first font that has the character, in the order of preference for sans-serif text in the language of
// the environment; null if none has it (or none that is scalable and smaller than 128 MiB). Files are read
// once and kept until the program ends. Thread-safe.
const SystemFont* system_font_with(char32_t character);

}  // namespace headwise
