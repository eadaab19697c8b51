// An OpenGL context without a window or a display (EGL): for tests, for pictures of the window, for GPU work
// from the command line.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/platform/drawing_objects.h"
#include "core/export/image.h"

namespace headwise {

// Pictures are identical everywhere if software renders them. Computing uses a GPU if there is one, unless
// LIBGL_ALWAYS_SOFTWARE is set.
enum class OffscreenUse { pictures, computing };

// Where EGL may have OpenGL: a device that is a GPU, software, or of unknown kind; Mesa without any device,
// with a GPU that it knows or in software; whatever display there is.
enum class GlPlace { gpu, software, unknown, surfaceless, default_display };

struct ContextCandidate {
  std::size_t place = 0;  // among the places given
  int major = 0, minor = 0;
  bool reports_resets = false;  // the driver reports when it was reset, instead of silently drawing nothing
  bool operator==(const ContextCandidate&) const = default;
};

// Every place with OpenGL 4.5, 4.4, 4.3 and 3.3, each with and without reset notification. For computing,
// GPUs come first, and 3.3 (which has no compute shaders) only after everything else; for pictures and with
// `wants_software`, software comes first.
std::vector<ContextCandidate> context_candidates(std::span<const GlPlace> places, OffscreenUse use,
                                                 bool wants_software);

// What became of a candidate: no context, or one that computes in software or on a GPU.
enum class ContextTry { refused, software, gpu };

// Tries the candidates in turn; returns the one whose context is to be used, which is the last that was
// tried, or nullopt if all are refused. With `wants_gpu`, a GPU whose driver turns out to be software is used
// only if no other GPU gives a context.
std::optional<ContextCandidate> first_context(std::span<const ContextCandidate> candidates,
                                              std::span<const GlPlace> places, bool wants_gpu,
                                              const std::function<ContextTry(const ContextCandidate&)>& make);

// A debug context checks more and reports it (app/platform/driver.h), which takes time: for tests, and where
// the environment variable HEADWISE_GL_DEBUG is set, as for the window.
enum class OffscreenDebug { from_environment, on };

class OffscreenContext {
 public:
  // Makes an OpenGL core context (4.5 if available, else at least 3.3) on the first device that gives one,
  // makes it current in this thread, and gives it a framebuffer of width × height pixels.
  // Throws Error(no_display) if EGL has none.
  OffscreenContext(int width, int height, OffscreenUse use = OffscreenUse::pictures,
                   OffscreenDebug debug = OffscreenDebug::from_environment);
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
