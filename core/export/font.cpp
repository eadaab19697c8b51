#include "core/export/font.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/export/label_text.h"

namespace headwise {

std::string_view embedded_dejavu_sans(), embedded_dejavu_sans_bold(), embedded_dejavu_sans_mono();

std::span<const unsigned char> embedded_font(FontFace face) {
  const std::string_view file = face == FontFace::sans   ? embedded_dejavu_sans()
                                : face == FontFace::bold ? embedded_dejavu_sans_bold()
                                                         : embedded_dejavu_sans_mono();
  return {reinterpret_cast<const unsigned char*>(file.data()), file.size()};
}

namespace {

// An object of FreeType or fontconfig, given back by `done`.
template <auto done>
struct Done {
  void operator()(auto* object) const { done(object); }
};

// The embedded fonts are part of the program: failing to open them means a broken build, not a user's error.
void expect(FT_Error error) {
  if (error != 0) throw std::logic_error("an embedded font cannot be read");
}

// One opened face. FreeType objects are not shared between threads:
// each thread has its own (see `font_with`).
class Font {
 public:
  Font(FT_Library library, std::span<const unsigned char> file, int index = 0) : file_{file, index} {
    FT_Face face = nullptr;
    expect(FT_New_Memory_Face(library, file.data(), static_cast<FT_Long>(file.size()), index, &face));
    face_.reset(face);
  }

  bool has(char32_t code) { return glyph(code) != 0; }
  unsigned glyph(char32_t code) { return FT_Get_Char_Index(face_.get(), code); }
  const FontFile& file() const { return file_; }

  // 0 for a character that only modifies others (joiners, variation selectors) and has no glyph of its own.
  double advance_em(char32_t code) {
    const auto [entry, is_new] = advances_.try_emplace(code, 0.0);
    if (is_new && !is_invisible(code)) {
      expect(FT_Load_Glyph(face_.get(), glyph(code), FT_LOAD_NO_SCALE));
      entry->second = static_cast<double>(face_->glyph->metrics.horiAdvance) / face_->units_per_EM;
    }
    return entry->second;
  }

  static bool is_invisible(char32_t code) {
    return code == 0x200B || code == 0x200C || code == 0x200D || code == 0x2060 || code == 0xFEFF ||
           code == 0x00AD || (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0xE0000 && code <= 0xE0FFF);
  }

  void set_size(double size) {
    if (std::exchange(size_, size) == size) return;
    expect(FT_Set_Char_Size(face_.get(), static_cast<FT_F26Dot6>(std::lround(size * 64.0)), 0, 72, 72));
  }

  // The coverage of a glyph whose origin is `fraction` of a pixel right of and below a pixel corner. Upright
  // text is hinted vertically, which keeps stems of small letters sharp; rotated text is not.
  FT_GlyphSlot render(char32_t code, PointF fraction, const FT_Matrix* turn) {
    expect(FT_Load_Glyph(face_.get(), glyph(code),
                         FT_LOAD_NO_BITMAP | (turn ? FT_LOAD_NO_HINTING : FT_LOAD_TARGET_LIGHT)));
    FT_Outline* outline = &face_->glyph->outline;
    if (turn) FT_Outline_Transform(outline, turn);
    FT_Outline_Translate(outline, std::lround(fraction.x * 64.0), -std::lround(fraction.y * 64.0));
    expect(FT_Render_Glyph(face_->glyph, FT_RENDER_MODE_NORMAL));
    return face_->glyph;
  }

 private:
  FontFile file_;
  std::unique_ptr<FT_FaceRec_, Done<FT_Done_Face>> face_;
  std::unordered_map<char32_t, double> advances_;
  double size_ = 0.0;
};

class Fonts {
 public:
  Fonts() {
    FT_Library library = nullptr;
    expect(FT_Init_FreeType(&library));
    library_.reset(library);
    for (const FontFace face : {FontFace::sans, FontFace::bold, FontFace::mono})
      fonts_[static_cast<std::size_t>(face)] = std::make_unique<Font>(library, embedded_font(face));
  }
  // The font that has the character: this face, else a system font; if none has it,
  // this face for its empty box.
  Font& with(char32_t code, FontFace face) {
    Font& font = *fonts_[static_cast<std::size_t>(face)];
    if (font.has(code) || Font::is_invisible(code)) return font;
    const SystemFont* other = system_font_with(code);
    if (other == nullptr) return font;
    std::unique_ptr<Font>& opened = others_[other];
    if (!opened) opened = std::make_unique<Font>(library_.get(), other->file, other->index);
    return opened->has(code) ? *opened : font;
  }

 private:
  std::unique_ptr<FT_LibraryRec_, Done<FT_Done_FreeType>> library_;
  std::array<std::unique_ptr<Font>, 3> fonts_;
  std::map<const SystemFont*, std::unique_ptr<Font>> others_;
};

Font& font_with(char32_t code, FontFace face) {
  thread_local Fonts fonts;
  return fonts.with(code, face);
}

// Unit vector along the text; quarter turns are exact.
PointF text_direction(double degrees) {
  const double quarters = degrees / 90.0;
  if (quarters == std::round(quarters)) {
    constexpr std::array<PointF, 4> exact = {PointF{1, 0}, PointF{0, 1}, PointF{-1, 0}, PointF{0, -1}};
    return exact[static_cast<std::size_t>((static_cast<long>(quarters) % 4 + 4) % 4)];
  }
  const double radians = degrees * std::numbers::pi / 180.0;
  return {std::cos(radians), std::sin(radians)};
}

void blend(Image& image, int x, int y, Rgba8 ink, int coverage) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  std::uint8_t* pixel = &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                         static_cast<std::size_t>(x))];
  const std::array<int, 3> channels = {ink.r, ink.g, ink.b};
  for (std::size_t c = 0; c < 3; ++c)
    pixel[c] = static_cast<std::uint8_t>((pixel[c] * (255 - coverage) + channels[c] * coverage + 127) / 255);
}

constexpr std::uintmax_t largest_file = std::uintmax_t{128} << 20U;

std::string text_of(const FcPattern* font, const char* what) {
  FcChar8* text = nullptr;
  return FcPatternGetString(font, what, 0, &text) == FcResultMatch ? reinterpret_cast<const char*>(text) : "";
}

bool flag_of(const FcPattern* font, const char* what) {
  FcBool flag = FcFalse;
  return FcPatternGetBool(font, what, 0, &flag) == FcResultMatch && flag == FcTrue;
}

// Whether it has outlines rather than bitmaps or colour glyphs.
bool has_outlines(const FcPattern* font) {
  const std::string format = text_of(font, FC_FONTFORMAT);
  return (format == "TrueType" || format == "CFF") && flag_of(font, FC_SCALABLE) && !flag_of(font, FC_COLOR);
}

// nullopt if the file cannot be read, or is not as fontconfig described it.
std::optional<SystemFont> read_font(const FcPattern* pattern) {
  SystemFont font;
  font.path = text_of(pattern, FC_FILE);
  int index = 0;
  FcPatternGetInteger(pattern, FC_INDEX, 0, &index);
  font.index = index & 0xFFFF;  // above: a named instance of a variable font
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(font.path, failed);
  if (failed || size == 0 || size > largest_file) return std::nullopt;
  font.file.resize(size);
  std::ifstream stream(font.path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(font.file.data()), static_cast<std::streamsize>(size)))
    return std::nullopt;

  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) != 0) return std::nullopt;
  FT_Face face = nullptr;
  const bool opened = FT_New_Memory_Face(library, font.file.data(), static_cast<FT_Long>(font.file.size()),
                                         font.index, &face) == 0;
  const bool usable = opened && face->units_per_EM > 0 && face->ascender > face->descender;
  if (usable) font.line_ems = static_cast<double>(face->ascender - face->descender) / face->units_per_EM;
  FT_Done_FreeType(library);  // and its face
  return usable ? std::optional(std::move(font)) : std::nullopt;
}

class SystemFonts {
 public:
  const SystemFont* with(char32_t character) {
    const std::scoped_lock lock(mutex_);
    if (!asked_) ask();
    const auto [found, is_new] = found_.try_emplace(character, nullptr);
    if (is_new) found->second = find(character);
    return found->second;
  }

 private:
  struct Entry {
    bool read = false;
    std::optional<SystemFont> font;
  };

  void ask() {
    asked_ = true;
    config_.reset(FcInitLoadConfigAndFonts());
    const std::unique_ptr<FcPattern, Done<FcPatternDestroy>> wanted(FcPatternCreate());
    if (!config_ || !wanted) return;
    FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
    FcConfigSubstitute(config_.get(), wanted.get(), FcMatchPattern);
    FcDefaultSubstitute(wanted.get());
    FcResult result = FcResultMatch;
    sorted_.reset(FcFontSort(config_.get(), wanted.get(), FcTrue, nullptr, &result));
    if (sorted_) entries_.resize(static_cast<std::size_t>(sorted_->nfont));
  }

  const SystemFont* find(char32_t character) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const FcPattern* pattern = sorted_->fonts[i];
      FcCharSet* characters = nullptr;
      if (FcPatternGetCharSet(pattern, FC_CHARSET, 0, &characters) != FcResultMatch ||
          FcCharSetHasChar(characters, character) != FcTrue || !has_outlines(pattern))
        continue;
      Entry& entry = entries_[i];
      if (!std::exchange(entry.read, true)) entry.font = read_font(pattern);
      if (entry.font) return &*entry.font;
    }
    return nullptr;
  }

  std::mutex mutex_;
  bool asked_ = false;
  std::unique_ptr<FcConfig, Done<FcConfigDestroy>> config_;
  std::unique_ptr<FcFontSet, Done<FcFontSetSortDestroy>> sorted_;
  // one for each of sorted_, never resized, so that returned pointers stay valid
  std::vector<Entry> entries_;
  std::unordered_map<char32_t, const SystemFont*> found_;
};

}  // namespace

double anchor_share(TextAnchor anchor) {
  return anchor == TextAnchor::start ? 0.0 : anchor == TextAnchor::middle ? 0.5 : 1.0;
}

std::vector<LaidGlyph> laid_out(const std::string& text, FontFace face) {
  std::vector<LaidGlyph> glyphs;
  for (const char32_t code : visual_order(printable(text))) {
    if (Font::is_invisible(code)) continue;
    Font& font = font_with(code, face);
    glyphs.push_back({code, font.file(), font.glyph(code), font.advance_em(code)});
  }
  return glyphs;
}

double text_width(const std::string& text, FontFace face, double size) {
  double ems = 0.0;
  for (const char32_t code : visual_order(printable(text))) ems += font_with(code, face).advance_em(code);
  return ems * size;
}

TextBox text_box(const TextItem& item) {
  const double width = text_width(item.text, item.face, item.size);
  const double left = -anchor_share(item.anchor) * width;
  const double top = -text_ascent * item.size, bottom = text_descent * item.size;
  const PointF along = text_direction(item.degrees);
  const auto place = [&](double x, double y) {
    return PointF{item.baseline.x + x * along.x - y * along.y, item.baseline.y + x * along.y + y * along.x};
  };
  return {{place(left, top), place(left + width, top), place(left + width, bottom), place(left, bottom)}};
}

void draw_text(Image& image, const TextItem& item) {
  const PointF along = text_direction(item.degrees);
  const bool upright = item.degrees == 0.0;
  const auto fixed = [](double v) { return static_cast<FT_Fixed>(std::lround(v * 65536.0)); };
  // FreeType's y axis points up, so a clockwise rotation on the screen has its sine negated.
  const FT_Matrix turn = {fixed(along.x), fixed(along.y), fixed(-along.y), fixed(along.x)};

  double x = item.baseline.x, y = upright ? std::round(item.baseline.y) : item.baseline.y;
  const double start = -anchor_share(item.anchor) * text_width(item.text, item.face, item.size);
  x += start * along.x;
  y += start * along.y;
  for (const char32_t code : visual_order(printable(item.text))) {
    if (Font::is_invisible(code)) continue;
    Font& used = font_with(code, item.face);
    used.set_size(item.size);
    const double corner_x = std::floor(x), corner_y = std::floor(y);
    const FT_GlyphSlot slot = used.render(code, {x - corner_x, y - corner_y}, upright ? nullptr : &turn);
    const FT_Bitmap& bitmap = slot->bitmap;
    const int left = static_cast<int>(corner_x) + slot->bitmap_left,
              top = static_cast<int>(corner_y) - slot->bitmap_top;
    for (unsigned row = 0; row < bitmap.rows; ++row) {
      const unsigned char* line = bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch;
      for (unsigned col = 0; col < bitmap.width; ++col)
        if (line[col] != 0)
          blend(image, left + static_cast<int>(col), top + static_cast<int>(row), item.color, line[col]);
    }
    const double advance = used.advance_em(code) * item.size;
    x += advance * along.x;
    y += advance * along.y;
  }
}

const SystemFont* system_font_with(char32_t character) {
  static SystemFonts fonts;
  return fonts.with(character);
}

}  // namespace headwise
