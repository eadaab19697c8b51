// Fonts of the system for what the embedded ones lack: Chinese, Japanese, Korean and other scripts that a person's own words
// may be written in. Which font has a character is fontconfig's answer.
#pragma once

#include <filesystem>
#include <vector>

namespace headwise {

struct SystemFont {
  std::filesystem::path path;
  std::vector<unsigned char> file;  // TrueType or CFF, as FreeType opens it from memory
  int index = 0;                    // of the face in the file
  double line_ems = 1.0;            // from its highest ascender to its lowest descender
};

// The first font that has the character, in the order of preference for sans-serif text in the language of the environment;
// null where none has it (or none that can be scaled and is less than 128 MiB). Files are read once and kept until the
// program ends. Safe from several threads.
const SystemFont* system_font_with(char32_t character);

}  // namespace headwise
