#include "app/platform/offscreen_context.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <array>

#include "core/tensor/error.h"

namespace headwise {

namespace {

Error no_context(const std::string& what) {
  return Error(ExitStatus::no_display, {.where = "EGL",
                                        .what = what,
                                        .got = fmt::format("EGL error {:#x}", eglGetError()),
                                        .expected = "an OpenGL 3.3 core context without a display",
                                        .remedy = "install libegl-mesa0 and libgl1-mesa-dri"});
}

// Mesa needs neither display nor device for its surfaceless platform; other drivers offer their devices.
EGLDisplay open_display() {
  EGLint major = 0, minor = 0;
  const auto usable = [&](EGLDisplay display) {
    return display != EGL_NO_DISPLAY && eglInitialize(display, &major, &minor) == EGL_TRUE;
  };
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
    const EGLDisplay display =
        eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (usable(display)) return display;
  }
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count);
    for (EGLint i = 0; i < count; ++i) {
      const EGLDisplay display =
          eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(i)], nullptr);
      if (usable(display)) return display;
    }
  }
  const EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  return usable(display) ? display : EGL_NO_DISPLAY;
}

// `tells_resets`: the driver says when it was reset, instead of going on with nothing.
EGLContext make_context(EGLDisplay display, int major, int minor, bool tells_resets) {
  const std::array<EGLint, 11> attributes = {
      EGL_CONTEXT_MAJOR_VERSION,
      major,
      EGL_CONTEXT_MINOR_VERSION,
      minor,
      EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
      EGL_CONTEXT_OPENGL_DEBUG,
      EGL_TRUE,
      tells_resets ? EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY : EGL_NONE,
      EGL_LOSE_CONTEXT_ON_RESET,
      EGL_NONE};
  return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
}

}  // namespace

// The EGL display is the process's: it is left open, because ending it would end every other context on it.
struct OffscreenContext::Egl {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;

  ~Egl() {
    if (context == EGL_NO_CONTEXT) return;
    if (eglGetCurrentContext() == context)
      eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
  }
};

OffscreenContext::OffscreenContext(int width, int height) : egl_(std::make_unique<Egl>()) {
  egl_->display = open_display();
  if (egl_->display == EGL_NO_DISPLAY) throw no_context("no display could be opened");
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) throw no_context("there is no desktop OpenGL");
  egl_->context = make_context(egl_->display, 4, 5, true);
  if (egl_->context == EGL_NO_CONTEXT) egl_->context = make_context(egl_->display, 4, 5, false);
  if (egl_->context == EGL_NO_CONTEXT) egl_->context = make_context(egl_->display, 3, 3, false);
  if (egl_->context == EGL_NO_CONTEXT) throw no_context("no context could be made");
  make_current();
  framebuffer_.emplace("offscreen framebuffer", width, height);
  bind();
}

OffscreenContext::~OffscreenContext() {
  // The framebuffer's names belong to this context, whichever is current now.
  if (eglGetCurrentContext() != egl_->context)
    eglMakeCurrent(egl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl_->context);
  framebuffer_.reset();
}

void OffscreenContext::make_current() {
  if (eglMakeCurrent(egl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl_->context) != EGL_TRUE)
    throw no_context("the context could not be made current");
}

void OffscreenContext::resize(int width, int height) {
  framebuffer_.emplace("offscreen framebuffer", width, height);
  bind();
}

void OffscreenContext::bind() {
  framebuffer_->bind();
}

Image OffscreenContext::pixels() const {
  return {framebuffer_->width(), framebuffer_->height(), framebuffer_->read_pixels()};
}

}  // namespace headwise
