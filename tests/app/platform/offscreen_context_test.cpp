#include "app/platform/offscreen_context.h"

#include <doctest/doctest.h>
#include <epoxy/gl.h>

#include <cstdlib>

#include "tests/app/ui_driver.h"

using namespace headwise;

TEST_CASE("what is drawn without a display can be read back, from the top, at the size asked for") {
  OPEN_OR_SKIP(driver, UiDriver::start(30, 20));
  OffscreenContext context(8, 4);
  CHECK(epoxy_gl_version() >= 33);
  glEnable(GL_SCISSOR_TEST);
  glScissor(0, 3, 8, 1);  // GL counts from the bottom: the top row
  glClearColor(1.0f, 0.0f, 0.2f, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
  glDisable(GL_SCISSOR_TEST);
  const Image image = context.pixels();
  CHECK(image.width == 8);
  CHECK(image.height == 4);
  REQUIRE(image.rgba.size() == 8 * 4 * 4);
  CHECK(image.rgba[0] == 255);
  CHECK(image.rgba[2] == 51);
  CHECK(image.rgba[8 * 4] == 0);
  context.resize(3, 5);
  CHECK(context.pixels().rgba.size() == 3 * 5 * 4);
}

TEST_CASE("two contexts live side by side, each with its own picture") {
  OPEN_OR_SKIP(driver, UiDriver::start(30, 20));
  OffscreenContext a(2, 2);
  {
    OffscreenContext b(2, 2);
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    CHECK(b.pixels().rgba[1] == 255);
    a.make_current();
    a.bind();
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    CHECK(a.pixels().rgba[0] == 255);
    CHECK(a.pixels().rgba[1] == 0);
  }
}

TEST_CASE("a context checks every call only where that is asked for") {
  auto driver = UiDriver::start(30, 20);
  if (!driver || std::getenv("HEADWISE_GL_DEBUG") != nullptr) return;
  const auto is_debug = [] {
    GLint flags = 0;
    glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
    return (flags & GL_CONTEXT_FLAG_DEBUG_BIT) != 0;
  };
  {
    const OffscreenContext context(2, 2);
    CHECK_FALSE(is_debug());
  }
  {
    const OffscreenContext context(2, 2, OffscreenUse::computing);
    CHECK_FALSE(is_debug());
  }
  const OffscreenContext context(2, 2, OffscreenUse::computing, OffscreenDebug::on);
  CHECK(is_debug());
}
