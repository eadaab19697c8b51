#include <epoxy/gl.h>

#include <memory>
#include <string_view>

#include "app/platform/drawing_objects.h"
#include "app/platform/driver.h"
#include "app/platform/offscreen_context.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/skipped.h"

using namespace headwise;

namespace {

std::unique_ptr<OffscreenContext> context_or_skip() {
  try {
    return std::make_unique<OffscreenContext>(16, 16, OffscreenUse::pictures, OffscreenDebug::on);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::no_display) throw;
    test::say_skipped(error.what());
    return nullptr;
  }
}

constexpr std::string_view vertex = "#version 330 core\nvoid main() { gl_Position = vec4(0.0); }\n";
constexpr std::string_view fragment =
    "#version 330 core\nuniform vec4 tint;\nout vec4 color;\nvoid main() { color = tint; }\n";

}  // namespace

TEST_CASE("a GL object is deleted once, by the last one that owns it") {
  OPEN_OR_SKIP(context, context_or_skip());
  GLuint name = 0;
  {
    gl::Texture first("first", gl::TexelFormat::rgba8, 2, 2, nullptr);
    name = first.name();
    gl::Texture second = std::move(first);
    CHECK(!first);
    CHECK(second.name() == name);
    gl::Texture third;
    third = std::move(second);
    CHECK(glIsTexture(name) == GL_TRUE);
    CHECK(third.width() == 2);
  }
  CHECK(glIsTexture(name) == GL_FALSE);
}

TEST_CASE("objects carry their label") {
  auto context = context_or_skip();
  if (!context || epoxy_gl_version() < 43) return;
  const gl::Texture texture("attn_weights", gl::TexelFormat::rg32f, 4, 1, nullptr);
  char label[32] = "";
  glGetObjectLabel(GL_TEXTURE, texture.name(), sizeof label, nullptr, label);
  CHECK(std::string_view(label) == "attn_weights");
}

TEST_CASE("a shader that does not compile or link is refused in one line with the driver's words") {
  OPEN_OR_SKIP(context, context_or_skip());
  const gl::Program good("good", vertex, fragment);
  CHECK(good.uniform("tint") >= 0);
  CHECK(good.uniform("no such name") == -1);
  const auto refusal = [](std::string_view vertex_text, std::string_view fragment_text) -> std::string {
    try {
      const gl::Program program("broken", vertex_text, fragment_text);
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::no_display);
      return error.what();
    }
    return "";
  };
  const std::string compile = refusal(vertex, "#version 330 core\nvoid main() { colour = 1; }\n");
  CHECK_CONTAINS(compile, "shader broken");
  CHECK_CONTAINS(compile, "colour");
  CHECK(compile.find('\n') == std::string::npos);
  const std::string link = refusal(
      "#version 330 core\nout vec2 where;\nvoid main() { where = vec2(0.0); gl_Position = vec4(0.0); }\n",
      "#version 330 core\nin vec3 where;\nout vec4 color;\nvoid main() { color = where.xyzz; }\n");
  CHECK_CONTAINS(link, "does not link");
}

TEST_CASE("a wrong GL call is reported while somebody listens") {
  OPEN_OR_SKIP(context, context_or_skip());
  int errors = 0;
  {
    const gl::DebugOutput listener([&](const gl::DebugMessage& message) { errors += message.error; });
    if (!listener.available()) return;
    glBindTexture(GL_TEXTURE_2D, 123456);
    CHECK(errors >= 1);
  }
  const int before = errors;
  glBindTexture(GL_TEXTURE_2D, 123456);
  CHECK(errors == before);
}
