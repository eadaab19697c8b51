#include "app/platform/driver.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "core/gpu/gpu_limits.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise::gl {

std::string renderer_name() {
  const GLubyte* name = glGetString(GL_RENDERER);
  const int version = epoxy_gl_version();
  return fmt::format("{}, OpenGL {}.{}", name == nullptr ? "unknown" : reinterpret_cast<const char*>(name),
                     version / 10, version % 10);
}

bool expects_gpu() {
  const char* const value = std::getenv("HEADWISE_EXPECT_GPU");
  const std::string_view said = value == nullptr ? "" : value;
  return !said.empty() && said != "0";
}

std::string missing_gpu(std::string_view renderer) {
  if (!is_software_renderer(renderer)) return "";
  return fmt::format("HEADWISE_EXPECT_GPU is set, but the renderer is software: {}", renderer);
}

void require_context_memory() {
  // Mesa 22.3 on two threads crashed with up to 243 MiB of address space, at sizes of 640×360 to 3840×2160.
  // Each further thread has a stack of 8 MiB.
  constexpr Index mib = Index{1} << 20, driver = 280 * mib, thread = 9 * mib;
  constexpr unsigned most_threads = 32;
  const Index needed =
      driver + thread * std::min(std::max(1U, std::thread::hardware_concurrency()), most_threads);
  const Index there = available_memory();
  if (there < needed)
    throw Error(ExitStatus::memory,
                {"OpenGL", "there is not enough memory for its driver", bytes_text(there),
                 "at least " + bytes_text(needed), "raise the limit (ulimit -v), or free some memory"});
}

namespace {

void GLAPIENTRY receive(GLenum, GLenum type, GLuint, GLenum, GLsizei length, const GLchar* text,
                        const void* user) {
  if (type == GL_DEBUG_TYPE_PERFORMANCE || type == GL_DEBUG_TYPE_OTHER || type == GL_DEBUG_TYPE_MARKER ||
      type == GL_DEBUG_TYPE_PUSH_GROUP || type == GL_DEBUG_TYPE_POP_GROUP)
    return;
  DebugMessage message;
  message.error = type == GL_DEBUG_TYPE_ERROR || type == GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR;
  message.text.assign(text, static_cast<std::size_t>(length));
  (*static_cast<const DebugOutput::Sink*>(user))(message);
}

}  // namespace

DebugOutput::DebugOutput(Sink sink) {
  if (epoxy_gl_version() < 43 && !epoxy_has_gl_extension("GL_KHR_debug")) return;
  sink_ = std::make_unique<Sink>(std::move(sink));
  glEnable(GL_DEBUG_OUTPUT);
  glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
  glDebugMessageCallback(receive, sink_.get());
}

DebugOutput::~DebugOutput() {
  if (sink_ != nullptr) glDebugMessageCallback(nullptr, nullptr);
}

}  // namespace headwise::gl
