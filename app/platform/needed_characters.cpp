#include "app/platform/needed_characters.h"

#include <imgui_internal.h>

#include "core/picture/system_fonts.h"

namespace headwise {

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
