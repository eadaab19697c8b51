#include "app/platform/fonts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include <imgui_freetype.h>
#include <imgui_internal.h>

#include "core/export/font.h"

namespace headwise {
namespace {

// Pairs of first and last code point. Only what DejaVu has becomes a glyph.
constexpr ImWchar symbol_ranges[] = {0x0020, 0x017F,  // Latin, Latin-1, Extended-A
                                     0x02B0, 0x02FF,  // modifier letters: ʰ ˡ
                                     0x0370, 0x03FF,  // Greek
                                     0x0400, 0x045F,  // Cyrillic
                                     0x1D2C, 0x1D6B,  // superscript and subscript letters: ᵀ ᵢ
                                     0x2010, 0x205E,  // dashes, quotation marks, ellipsis, primes
                                     0x2070, 0x209F,  // superscripts and subscripts
                                     0x20AC, 0x20AC,  // €
                                     0x2100, 0x214F,  // letterlike: ℝ ℓ
                                     0x2190, 0x21FF,  // arrows
                                     0x2200, 0x22FF,  // mathematical operators
                                     0x2300, 0x23FF,  // technical: ⌈ ⌉ ⏎
                                     0x2500, 0x257F,  // box drawing
                                     0x2580, 0x259F,  // blocks
                                     0x25A0, 0x25FF,  // geometric shapes
                                     0x2605, 0x2606,  // stars
                                     0x2713, 0x2718,  // check marks and crosses
                                     0x27C0, 0x27EF,  // more mathematics: ⟨ ⟩
                                     0x2C7C, 0x2C7D,  // ⱼ
                                     0xFFFD, 0xFFFD,  // the replacement for a missing character
                                     0};

constexpr ImWchar text_ranges[] = {0x0020, 0x058F,  // Latin, IPA, combining marks, Greek, Cyrillic, Armenian
                                   0x0590, 0x06FF,  // Hebrew, Arabic
                                   0x0E3F, 0x0EFF,  // Lao
                                   0x10A0, 0x10FF,  // Georgian
                                   0x1D00, 0x1DBF,  // phonetic letters
                                   0x1E00, 0x1FFF,  // Latin and Greek with marks
                                   0x2000, 0x2BFF,  // punctuation, symbols, arrows, mathematics, braille
                                   0x2C60, 0x2C7F,  // Latin Extended-C
                                   0xFB00, 0xFB4F,  // ligatures
                                   0xFFFD, 0xFFFD, 0};

// Large glyphs take time and texture: only what an English sentence with numbers needs.
constexpr ImWchar display_ranges[] = {0x0020, 0x00FF, 0x2010, 0x2026, 0x2190, 0x2193, 0x2211, 0x2212,
                                      0x2218, 0x2218, 0x221A, 0x221A, 0x221E, 0x221E, 0x2248, 0x2248,
                                      0x2260, 0x2260, 0x2264, 0x2265, 0xFFFD, 0xFFFD, 0};

// All glyphs fill about 1.7 million pixels at scale 1. Every driver supports textures of 8192 pixels a side,
// few more than 16384.
int texture_width(float scale) {
  return scale <= 1.5f ? 2048 : scale <= 3.0f ? 4096 : 8192;
}

// Pairs of first and last code point, by the font that has them.
// ImGui's text cannot represent code points above 16 bits.
std::map<const SystemFont*, std::vector<ImWchar>> ranges_by_font(const std::set<char32_t>& characters) {
  std::map<const SystemFont*, std::vector<ImWchar>> ranges;
  for (const char32_t character : characters) {
    const SystemFont* font = character <= IM_UNICODE_CODEPOINT_MAX ? system_font_with(character) : nullptr;
    if (font == nullptr) continue;
    std::vector<ImWchar>& pairs = ranges[font];
    if (!pairs.empty() && pairs.back() + 1u == character) {
      pairs.back() = static_cast<ImWchar>(character);
    } else {
      pairs.insert(pairs.end(), 2, static_cast<ImWchar>(character));
    }
  }
  for (auto& [font, pairs] : ranges) pairs.push_back(0);
  return ranges;
}

ImFontConfig config_of(float pixels, const char* name) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.OversampleH = config.OversampleV = 1;
  config.PixelSnapH = true;
  config.EllipsisChar = 0x2026;
  std::snprintf(config.Name, sizeof config.Name, "%s %.1f px", name, static_cast<double>(pixels));
  return config;
}

// Merges characters of another font into the one added last.
void add_to_last(ImFontAtlas& atlas, const SystemFont& font, float pixels, const ImWchar* ranges) {
  // A font size is the height of a whole line, and lines of other fonts have other heights: this makes their
  // letters the same size.
  constexpr double line_ems_of_dejavu = 1.164;
  const auto line = static_cast<float>(pixels * font.line_ems / line_ems_of_dejavu);
  ImFontConfig config = config_of(line, "system");
  config.MergeMode = true;
  config.FontNo = font.index;
  atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(font.file.data()), static_cast<int>(font.file.size()),
                             line, &config, ranges);
}

ImFont* add(ImFontAtlas& atlas, FontFace face, float pixels, const ImWchar* ranges, const char* name) {
  const std::span<const unsigned char> file = embedded_font(face);
  const ImFontConfig config = config_of(pixels, name);
  // The atlas only reads what it does not own, but its interface predates const.
  return atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(file.data()), static_cast<int>(file.size()),
                                    pixels, &config, ranges);
}

// ImGui uses what it allocates without looking whether it was given any.
void* allocate_or_throw(std::size_t bytes, void*) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr && bytes > 0) throw std::bad_alloc();
  return memory;
}

void release(void* memory, void*) {
  std::free(memory);
}

}  // namespace

FontAtlas::FontAtlas(float scale, const std::set<char32_t>& others) : scale_(scale), others_(others) {
  ImGui::SetAllocatorFunctions(allocate_or_throw, release);
  const auto ranges = ranges_by_font(others);
  const auto pixels = [scale](float design) { return std::max(6.0f, std::round(design * scale)); };
  const auto words = [&](FontFace face, float design, const ImWchar* own, const char* name) {
    ImFont* font = add(glyphs_, face, pixels(design), own, name);
    for (const auto& [other, pairs] : ranges) add_to_last(glyphs_, *other, pixels(design), pairs.data());
    return font;
  };
  fonts_.sans = words(FontFace::sans, 15, text_ranges, "sans");
  fonts_.bold = words(FontFace::bold, 15, text_ranges, "bold");
  fonts_.mono = words(FontFace::mono, 14, symbol_ranges, "mono");
  fonts_.title = words(FontFace::bold, 20, symbol_ranges, "title");
  fonts_.formula = add(glyphs_, FontFace::sans, pixels(24), symbol_ranges, "formula");
  fonts_.caption = words(FontFace::sans, 18, symbol_ranges, "caption");
  fonts_.small = words(FontFace::sans, 13, symbol_ranges, "small");
  fonts_.mono_small = words(FontFace::mono, 12, symbol_ranges, "mono small");
  fonts_.display = add(glyphs_, FontFace::sans, pixels(34), display_ranges, "display");
  fonts_.display_bold = add(glyphs_, FontFace::bold, pixels(34), display_ranges, "display bold");
  glyphs_.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  glyphs_.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  glyphs_.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
  glyphs_.TexDesiredWidth = texture_width(scale);
  if (!glyphs_.Build()) throw std::bad_alloc();
}

std::shared_ptr<FontAtlas> font_atlas(float scale, const std::set<char32_t>& others) {
  constexpr std::size_t most_kept = 4;
  static std::mutex mutex;
  static std::vector<std::shared_ptr<FontAtlas>> last_used_first;
  const std::lock_guard lock(mutex);
  auto found = std::ranges::find_if(last_used_first, [&](const std::shared_ptr<FontAtlas>& atlas) {
    return atlas->scale() == scale && atlas->others() == others;
  });
  if (found == last_used_first.end())
    found = last_used_first.insert(found, std::make_shared<FontAtlas>(scale, others));
  std::rotate(last_used_first.begin(), found, found + 1);
  if (last_used_first.size() > most_kept) last_used_first.pop_back();
  return last_used_first.front();
}

void need_characters(std::string_view text, const ImFont& font) {
  constexpr std::size_t most = 1500;
  if (ImGui::GetCurrentContext() == nullptr) return;
  auto* needed = static_cast<NeededCharacters*>(ImGui::GetIO().UserData);
  if (needed == nullptr) return;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    // Nearly every text is plain ASCII, and this runs for every text in every frame.
    if (static_cast<unsigned char>(*at) < 0x80) {
      ++at;
      continue;
    }
    unsigned int character = 0;
    at += ImTextCharFromUtf8(&character, at, end);
    if (character > IM_UNICODE_CODEPOINT_MAX || font.FindGlyphNoFallback(static_cast<ImWchar>(character)))
      continue;
    if (needed->characters.size() >= most || system_font_with(character) == nullptr) continue;
    if (needed->characters.insert(character).second) needed->unsettled = true;
  }
}

}  // namespace headwise
