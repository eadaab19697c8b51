#include "app/gl/debug_output.h"

#include <epoxy/gl.h>

namespace headwise::gl {

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
