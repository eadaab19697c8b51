// Characters that the fonts of an ImGui context lack, recorded while a frame is made: ImGuiLifetime adds them from system
// fonts before the next one.
#pragma once

#include <imgui.h>

#include <set>
#include <string_view>

namespace headwise {

// What io.UserData points to in each of the program's ImGui contexts.
struct NeededCharacters {
  std::set<char32_t> characters;  // all that were needed so far and that a system font has
  bool unsettled = false;         // some are new since the fonts were built
};

// Records which characters of a text (UTF-8) `font` lacks, for the current ImGui context. The limit is 1,500 characters: as
// many as fit into a texture that every driver supports, at five pixels per design unit.
void need_characters(std::string_view text, const ImFont& font);

}  // namespace headwise
