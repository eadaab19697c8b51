#include "app/platform/offscreen_context.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include "app/platform/driver.h"
#include "core/gpu/gpu_limits.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

struct GlVersion {
  int major, minor;
};

constexpr std::array computing_versions{GlVersion{4, 5}, GlVersion{4, 4}, GlVersion{4, 3}};
constexpr GlVersion least_version{3, 3};

// The kinds of places in the order in which they are tried. Mesa needs neither display nor device for its
// surfaceless platform, but then it is always Mesa, even if another driver has a GPU.
constexpr std::array gpus_first{GlPlace::gpu, GlPlace::unknown, GlPlace::surfaceless, GlPlace::software,
                                GlPlace::default_display};
constexpr std::array software_first{GlPlace::surfaceless, GlPlace::software, GlPlace::unknown, GlPlace::gpu,
                                    GlPlace::default_display};

void add_version(std::vector<ContextCandidate>& candidates, std::size_t place, GlVersion version) {
  for (const bool reports_resets : {true, false})
    candidates.push_back({place, version.major, version.minor, reports_resets});
}

std::string egl_error() {
  return fmt::format("EGL error {:#x}", eglGetError());
}

Error no_context(const std::string& what, const std::string& got) {
  return Error(ExitStatus::no_display, {.where = "EGL",
                                        .what = what,
                                        .got = got,
                                        .expected = "an OpenGL 3.3 core context without a display",
                                        .remedy = "install libegl1, libegl-mesa0, libgl1 and libgl1-mesa-dri"});
}

// Where epoxy looks for OpenGL's functions.
bool has_desktop_gl() {
  return dlopen("libOpenGL.so.0", RTLD_LAZY) != nullptr || dlopen("libGL.so.1", RTLD_LAZY) != nullptr;
}

// A place and its display, which is opened when it is tried.
struct Place {
  GlPlace kind;
  EGLDeviceEXT device = nullptr;
  std::optional<EGLDisplay> display = {};  // EGL_NO_DISPLAY if it cannot be used
};

GlPlace kind_of(EGLDeviceEXT device) {
  const char* const device_extensions = epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_query") ||
                                                epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base")
                                            ? eglQueryDeviceStringEXT(device, EGL_EXTENSIONS)
                                            : nullptr;
  if (device_extensions == nullptr) return GlPlace::unknown;
  return std::strstr(device_extensions, "EGL_MESA_device_software") != nullptr ? GlPlace::software
                                                                               : GlPlace::gpu;
}

bool has_surfaceless() {
  return epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless");
}

std::vector<Place> all_places() {
  std::vector<Place> places;
  if (has_surfaceless()) places.push_back({GlPlace::surfaceless});
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count);
    for (EGLint i = 0; i < count; ++i) {
      const EGLDeviceEXT device = devices[static_cast<std::size_t>(i)];
      places.push_back({kind_of(device), device});
    }
  }
  places.push_back({GlPlace::default_display});
  return places;
}

EGLDisplay opened(Place& place) {
  if (!place.display) {
    const EGLDisplay display =
        place.device != nullptr ? eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, place.device, nullptr)
        : place.kind == GlPlace::surfaceless
            ? eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)
            : eglGetDisplay(EGL_DEFAULT_DISPLAY);
    EGLint major = 0, minor = 0;
    const bool usable = display != EGL_NO_DISPLAY && eglInitialize(display, &major, &minor) == EGL_TRUE;
    place.display = usable ? display : EGL_NO_DISPLAY;
  }
  return *place.display;
}

bool wants_software() {
  const char* const value = std::getenv("LIBGL_ALWAYS_SOFTWARE");
  return value != nullptr && std::string_view(value) != "0" && std::string_view(value) != "false";
}

EGLContext make_context(EGLDisplay display, const ContextCandidate& candidate, bool debug) {
  std::vector<EGLint> attributes{EGL_CONTEXT_MAJOR_VERSION,       candidate.major,
                                 EGL_CONTEXT_MINOR_VERSION,       candidate.minor,
                                 EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT};
  if (debug) attributes.insert(attributes.end(), {EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE});
  if (candidate.reports_resets)
    attributes.insert(attributes.end(),
                      {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET});
  attributes.push_back(EGL_NONE);
  return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
}

}  // namespace

std::vector<ContextCandidate> context_candidates(std::span<const GlPlace> places, OffscreenUse use,
                                                 bool wants_software) {
  const bool computing = use == OffscreenUse::computing;
  std::vector<std::size_t> ordered;
  for (const GlPlace kind : computing && !wants_software ? gpus_first : software_first)
    for (std::size_t place = 0; place < places.size(); ++place)
      if (places[place] == kind) ordered.push_back(place);
  std::vector<ContextCandidate> candidates;
  for (const std::size_t place : ordered) {
    for (const GlVersion version : computing_versions) add_version(candidates, place, version);
    if (!computing) add_version(candidates, place, least_version);
  }
  if (computing)
    for (const std::size_t place : ordered) add_version(candidates, place, least_version);
  return candidates;
}

std::optional<ContextCandidate> first_context(std::span<const ContextCandidate> candidates,
                                              std::span<const GlPlace> places, bool wants_gpu,
                                              const std::function<ContextTry(const ContextCandidate&)>& make) {
  std::optional<ContextCandidate> software;  // a GPU's, for want of better
  const auto may_be_better = [&](const ContextCandidate& candidate, const ContextCandidate& than) {
    return places[candidate.place] == GlPlace::gpu && candidate.place != than.place &&
           candidate.major > least_version.major;
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ContextCandidate& candidate = candidates[i];
    if (software && !may_be_better(candidate, *software)) continue;
    const ContextTry result = make(candidate);
    if (result == ContextTry::gpu) return candidate;
    if (result == ContextTry::refused || software) continue;
    const auto rest = candidates.subspan(i + 1);
    const bool more = wants_gpu && std::ranges::any_of(rest, [&](const ContextCandidate& next) {
                        return may_be_better(next, candidate);
                      });
    if (!more) return candidate;
    software = candidate;
  }
  if (software && make(*software) == ContextTry::refused) return std::nullopt;
  return software;
}

// The EGL display belongs to the process: it is left open,
// because closing it would end every other context on it.
struct OffscreenContext::Egl {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;

  ~Egl() { release(); }
  void release() {
    if (context == EGL_NO_CONTEXT) return;
    if (eglGetCurrentContext() == context)
      eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
    context = EGL_NO_CONTEXT;
  }
};

OffscreenContext::OffscreenContext(int width, int height, OffscreenUse use, OffscreenDebug debug)
    : egl_(std::make_unique<Egl>()) {
  gl::require_context_memory();
  // The first call of a function ends the program where the library that has it is missing.
  if (!epoxy_has_egl()) throw no_context("a library is missing", "no libEGL.so.1");
  if (!has_desktop_gl()) throw no_context("a library is missing", "neither libOpenGL.so.0 nor libGL.so.1");
  const bool with_debug = debug == OffscreenDebug::on || std::getenv("HEADWISE_GL_DEBUG") != nullptr;
  std::optional<Error> refusal;  // the last one that says most
  const auto make = [&](Place& place, const ContextCandidate& candidate) {
    egl_->release();
    egl_->display = opened(place);
    if (egl_->display == EGL_NO_DISPLAY) {
      if (!refusal) refusal = no_context("no display could be opened", egl_error());
      return ContextTry::refused;
    }
    if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) {
      refusal = no_context("there is no desktop OpenGL", egl_error());
      return ContextTry::refused;
    }
    egl_->context = make_context(egl_->display, candidate, with_debug);
    if (egl_->context == EGL_NO_CONTEXT ||
        eglMakeCurrent(egl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl_->context) != EGL_TRUE) {
      refusal = no_context("no context could be made", egl_error());
      return ContextTry::refused;
    }
    return is_software_renderer(gl::renderer_name()) ? ContextTry::software : ContextTry::gpu;
  };
  const auto make_on = [&](std::vector<Place> places) {
    std::vector<GlPlace> kinds;
    for (const Place& place : places) kinds.push_back(place.kind);
    const bool wants_gpu = use == OffscreenUse::computing && !wants_software();
    return first_context(
               context_candidates(kinds, use, wants_software()), kinds, wants_gpu,
               [&](const ContextCandidate& candidate) { return make(places[candidate.place], candidate); })
        .has_value();
  };
  // Asking for devices may wake a GPU that sleeps: not for pictures that Mesa draws without.
  const bool made = use == OffscreenUse::pictures && has_surfaceless() && make_on({{GlPlace::surfaceless}});
  if (!made && !make_on(all_places())) throw *refusal;
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
    throw no_context("the context could not be made current", egl_error());
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
