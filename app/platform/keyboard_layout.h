// Which key a chord means. GLFW numbers keys by their place on an American keyboard; Ctrl+Z is meant by the
// letter that is printed on the key.
#pragma once

#include <array>

namespace headwise {

class KeyboardLayout {
 public:
  // The number to report for a press or a release. What a press was reported as, its release is too, even if
  // the layout changes in between.
  int translate(int glfw_key, int scancode, bool down);

 private:
  std::array<int, 512> reported_{};  // by GLFW key, while it is down; 0: not
};

// The number for a key with this label ("z", "+", "ß"), which may be null.
int key_for_label(int glfw_key, const char* label);

}  // namespace headwise
