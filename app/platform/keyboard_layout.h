// Which key a chord means. GLFW numbers keys by their position on an American keyboard; Ctrl+Z means the letter printed on
// the key.
#pragma once

#include <array>

namespace headwise {

class KeyboardLayout {
 public:
  // The number to report for a press or a release. A release is reported like its press, even if the layout changes in
  // between.
  int translate(int glfw_key, int scancode, bool down);

 private:
  std::array<int, 512> reported_{};  // by GLFW key, while it is down; 0: none
};

// The number for a key with this label ("z", "+", "ß"), which may be null.
int key_for_label(int glfw_key, const char* label);

}  // namespace headwise
