#include "core/picture/system_fonts.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace headwise {
namespace {

constexpr std::uintmax_t largest_file = std::uintmax_t{128} << 20U;

struct ConfigDeleter {
  void operator()(FcConfig* config) const { FcConfigDestroy(config); }
};
struct PatternDeleter {
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};
struct FontSetDeleter {
  void operator()(FcFontSet* fonts) const { FcFontSetSortDestroy(fonts); }
};

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
    const std::unique_ptr<FcPattern, PatternDeleter> wanted(FcPatternCreate());
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
  std::unique_ptr<FcConfig, ConfigDeleter> config_;
  std::unique_ptr<FcFontSet, FontSetDeleter> sorted_;
  // one for each of sorted_, never resized, so that returned pointers stay valid
  std::vector<Entry> entries_;
  std::unordered_map<char32_t, const SystemFont*> found_;
};

}  // namespace

const SystemFont* system_font_with(char32_t character) {
  static SystemFonts fonts;
  return fonts.with(character);
}

}  // namespace headwise
