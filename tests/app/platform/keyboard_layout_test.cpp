#include "app/platform/window.h"

#include <doctest/doctest.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

using namespace headwise;

TEST_CASE("a key is told by the letter that is printed on it") {
  CHECK(key_for_label(GLFW_KEY_Y, "z") == GLFW_KEY_Z);  // a German keyboard
  CHECK(key_for_label(GLFW_KEY_Q, "a") == GLFW_KEY_A);  // a French one
  CHECK(key_for_label(GLFW_KEY_Z, "Z") == GLFW_KEY_Z);
  CHECK(key_for_label(GLFW_KEY_RIGHT_BRACKET, "+") == GLFW_KEY_KP_ADD);
  CHECK(key_for_label(GLFW_KEY_SLASH, "-") == GLFW_KEY_MINUS);
}

TEST_CASE("a key without a Latin letter on it is told by its place") {
  CHECK(key_for_label(GLFW_KEY_Z, nullptr) == GLFW_KEY_Z);
  CHECK(key_for_label(GLFW_KEY_Z, "") == GLFW_KEY_Z);
  CHECK(key_for_label(GLFW_KEY_Z, "я") == GLFW_KEY_Z);
  CHECK(key_for_label(GLFW_KEY_1, "&") == GLFW_KEY_1);
}

TEST_CASE("keys that print nothing, and numbers that are no keys, are left as they are") {
  KeyboardLayout layout;
  for (const int key : {GLFW_KEY_LEFT, GLFW_KEY_F1, GLFW_KEY_SPACE, GLFW_KEY_KP_1, GLFW_KEY_UNKNOWN, 100000}) {
    CHECK(layout.translate(key, 0, true) == key);
    CHECK(layout.translate(key, 0, false) == key);
  }
}
