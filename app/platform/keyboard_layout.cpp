#include "app/platform/keyboard_layout.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace headwise {

int key_for_label(int glfw_key, const char* label) {
  // Digits keep their positions: some layouts have them behind Shift, and they are still meant.
  if (label == nullptr || label[0] == '\0' || label[1] != '\0') return glfw_key;
  const char character = label[0];
  if (character >= 'a' && character <= 'z') return character - 'a' + GLFW_KEY_A;
  if (character >= 'A' && character <= 'Z') return character;
  switch (character) {
    case '+':
      return GLFW_KEY_KP_ADD;
    case '-':
      return GLFW_KEY_MINUS;
    case '=':
      return GLFW_KEY_EQUAL;
    default:
      return glfw_key;
  }
}

int KeyboardLayout::translate(int glfw_key, int scancode, bool down) {
  if (glfw_key < 0 || glfw_key >= static_cast<int>(reported_.size())) return glfw_key;
  int& reported = reported_[static_cast<std::size_t>(glfw_key)];
  const bool printable = glfw_key > GLFW_KEY_SPACE && glfw_key <= GLFW_KEY_WORLD_2;
  if (down)
    return reported = printable ? key_for_label(glfw_key, glfwGetKeyName(glfw_key, scancode)) : glfw_key;
  const int key = reported != 0 ? reported : glfw_key;
  reported = 0;
  return key;
}

}  // namespace headwise
