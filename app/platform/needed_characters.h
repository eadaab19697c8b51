// Characters of texts that the fonts of an ImGui have no picture of, noted while a frame is made: ImGuiLifetime adds them from
// fonts of the system before the next one.
#pragma once

#include <imgui.h>

#include <set>
#include <string_view>

namespace headwise {

// What io.UserData of each of the program's ImGuis points to.
struct NeededCharacters {
  std::set<char32_t> characters;  // all that were needed so far and that a font of the system has
  bool unsettled = false;         // some of them are new since the fonts were built
};

// Notes what `font` lacks of a text (UTF-8), for the ImGui that is current. There is room for 1,500 characters: as many fit
// into a texture that every driver takes, at five pixels per design unit.
void need_characters(std::string_view text, const ImFont& font);

}  // namespace headwise
