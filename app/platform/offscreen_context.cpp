#include "app/platform/offscreen_context.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

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

bool is_usable(EGLDisplay display) {
  EGLint major = 0, minor = 0;
  return display != EGL_NO_DISPLAY && eglInitialize(display, &major, &minor) == EGL_TRUE;
}

// The devices that drivers offer, as displays; with `gpus` only those that are not software.
std::vector<EGLDisplay> device_displays(bool gpus) {
  if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") ||
      !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration"))
    return {};
  std::array<EGLDeviceEXT, 16> devices{};
  EGLint count = 0;
  eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count);
  std::vector<EGLDisplay> displays;
  for (EGLint i = 0; i < count; ++i) {
    const EGLDeviceEXT device = devices[static_cast<std::size_t>(i)];
    const char* const told = epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_query") ||
                                     epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base")
                                 ? eglQueryDeviceStringEXT(device, EGL_EXTENSIONS)
                                 : nullptr;
    const bool software = told != nullptr && std::strstr(told, "EGL_MESA_device_software") != nullptr;
    if (gpus && (told == nullptr || software)) continue;
    displays.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, nullptr));
  }
  return displays;
}

bool wants_software() {
  const char* const value = std::getenv("LIBGL_ALWAYS_SOFTWARE");
  return value != nullptr && std::string_view(value) != "0" && std::string_view(value) != "false";
}

// Mesa needs neither display nor device for its surfaceless platform, but then it is always Mesa, even if another driver
// has a GPU.
EGLDisplay open_display(OffscreenUse use) {
  if (use == OffscreenUse::computing && !wants_software()) {
    for (const EGLDisplay display : device_displays(true))
      if (is_usable(display)) return display;
  }
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
    const EGLDisplay display =
        eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (is_usable(display)) return display;
  }
  for (const EGLDisplay display : device_displays(false))
    if (is_usable(display)) return display;
  const EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  return is_usable(display) ? display : EGL_NO_DISPLAY;
}

// `tells_resets`: the driver reports when it was reset, instead of silently drawing nothing.
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

// The EGL display belongs to the process: it is left open, because closing it would end every other context on it.
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

OffscreenContext::OffscreenContext(int width, int height, OffscreenUse use) : egl_(std::make_unique<Egl>()) {
  const auto try_on = [&](EGLDisplay display) {
    egl_->display = display;
    if (display == EGL_NO_DISPLAY) throw no_context("no display could be opened");
    if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) throw no_context("there is no desktop OpenGL");
    egl_->context = make_context(display, 4, 5, true);
    if (egl_->context == EGL_NO_CONTEXT) egl_->context = make_context(display, 4, 5, false);
    if (egl_->context == EGL_NO_CONTEXT) egl_->context = make_context(display, 3, 3, false);
  };
  try_on(open_display(use));
  // If the GPU gives no context, fall back to software.
  if (egl_->context == EGL_NO_CONTEXT && use == OffscreenUse::computing)
    try_on(open_display(OffscreenUse::pictures));
  if (egl_->context == EGL_NO_CONTEXT) throw no_context("no context could be made");
  make_current();
  framebuffer_.emplace("offscreen framebuffer", width, height);
  bind();
}

OffscreenContext::~OffscreenContext() {
  // The framebuffer's object names belong to this context, whichever is current now.
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

std::shared_ptr<const void> computing_context() {
  return std::make_shared<const OffscreenContext>(1, 1, OffscreenUse::computing);
}

}  // namespace headwise
