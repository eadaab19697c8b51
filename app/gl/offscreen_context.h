// An OpenGL context without a window or a display (EGL): for tests, for pictures of the window, for GPU work
// from the command line.
#pragma once

#include <memory>
#include <optional>

#include "app/gl/context_candidates.h"
#include "app/gl/framebuffer.h"
#include "core/picture/image.h"

namespace headwise {

// A debug context checks more and reports it (app/gl/debug_output.h), which takes time: for tests, and where
// the environment variable HEADWISE_GL_DEBUG is set, as for the window.
enum class OffscreenDebug { where_set, on };

class OffscreenContext {
 public:
  // Makes an OpenGL core context (4.5 if available, else at least 3.3) on the first device that gives one
  // (app/gl/context_candidates.h), makes it current in this thread, and gives it a framebuffer of width ×
  // height pixels. Throws Error(no_display) if EGL has none.
  OffscreenContext(int width, int height, OffscreenUse use = OffscreenUse::pictures,
                   OffscreenDebug debug = OffscreenDebug::where_set);
  ~OffscreenContext();
  OffscreenContext(const OffscreenContext&) = delete;
  OffscreenContext& operator=(const OffscreenContext&) = delete;

  void make_current();
  int width() const { return framebuffer_->width(); }
  int height() const { return framebuffer_->height(); }
  // Discards what was drawn. width, height > 0.
  void resize(int width, int height);
  // Directs further drawing to this context's framebuffer.
  void bind();
  Image pixels() const;

 private:
  struct Egl;
  std::unique_ptr<Egl> egl_;
  std::optional<gl::Framebuffer> framebuffer_;
};

// A one-pixel context for computing, current on this thread until it is released (core/backend/backend.h).
// Throws Error(no_display).
std::shared_ptr<const void> computing_context();

}  // namespace headwise
