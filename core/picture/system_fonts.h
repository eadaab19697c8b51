// System fonts for what the embedded ones lack: Chinese, Japanese, Korean and other scripts that users may
// write in. fontconfig decides which font has a character.
#pragma once

#include <filesystem>
#include <vector>

namespace headwise {

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
