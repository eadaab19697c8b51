#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/platform/driver.h"
#include "core/gpu/gpu_limits.h"
#include "tests/gpu/json_text.h"
#include "tests/gpu/phases.h"

namespace headwise::gpu_bench {
namespace {

std::string text_of(GLenum name) {
  const auto* const text = reinterpret_cast<const char*>(glGetString(name));
  return text == nullptr ? "" : text;
}

Index integer_of(GLenum name) {
  GLint64 value = 0;
  glGetInteger64v(name, &value);
  return value;
}

void describe_context(JsonObject& device) {
  device.text("renderer", text_of(GL_RENDERER))
      .text("vendor", text_of(GL_VENDOR))
      .text("version", text_of(GL_VERSION))
      .flag("software", is_software_renderer(gl::renderer_name()))
      .text("refusal", compute_refusal());
  const std::array<std::pair<const char*, GLenum>, 8> reported{
      {{"max_compute_shared_memory_size", GL_MAX_COMPUTE_SHARED_MEMORY_SIZE},
       {"max_shader_storage_block_size", GL_MAX_SHADER_STORAGE_BLOCK_SIZE},
       {"max_compute_shader_storage_blocks", GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS},
       {"max_compute_work_group_invocations", GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS},
       {"shader_storage_buffer_offset_alignment", GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT},
       {"program_binary_formats", GL_NUM_PROGRAM_BINARY_FORMATS},
       {"subgroup_size", 0x9532},  // GL_KHR_shader_subgroup; libepoxy 1.5 does not define them
       {"subgroup_features", 0x9534}}};
  for (const auto& [name, value] : reported) device.count(name, integer_of(value));
  if (compute_refusal().empty()) {
    const GpuLimits limits = gpu_limits();
    device.flag("clustered_subgroups", limits.clustered_subgroups)
        .count("usable_block_bytes", limits.storage_block_bytes);
  }
  while (glGetError() != GL_NO_ERROR) {
  }
  std::vector<std::string> extensions;
  for (GLuint i = 0; i < static_cast<GLuint>(integer_of(GL_NUM_EXTENSIONS)); ++i)
    if (const auto* const name = reinterpret_cast<const char*>(glGetStringi(GL_EXTENSIONS, i)))
      extensions.push_back(json_string(name));
  std::string list;
  for (const std::string& name : extensions) list += (list.empty() ? "" : ", ") + name;
  device.json("extensions", "[" + list + "]");
}

// What a context on this display is, or why there is none.
std::string described(const std::string& place, EGLDisplay display) {
  JsonObject device;
  device.text("place", place);
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY || eglInitialize(display, &major, &minor) != EGL_TRUE)
    return device.text("problem", fmt::format("the display does not open, EGL error {:#x}", eglGetError()))
        .written();
  device.text("egl", fmt::format("{}.{}", major, minor));
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return device.text("problem", "no desktop OpenGL").written();
  EGLContext context = EGL_NO_CONTEXT;
  for (const EGLint version : {46, 45, 44, 43, 33}) {
    const std::array<EGLint, 7> attributes{EGL_CONTEXT_MAJOR_VERSION,
                                           version / 10,
                                           EGL_CONTEXT_MINOR_VERSION,
                                           version % 10,
                                           EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                           EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                           EGL_NONE};
    context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
    if (context != EGL_NO_CONTEXT) break;
  }
  if (context == EGL_NO_CONTEXT || eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) != EGL_TRUE)
    return device.text("problem", fmt::format("no context, EGL error {:#x}", eglGetError())).written();
  describe_context(device);
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display, context);
  return device.written();
}

}  // namespace

std::string devices_phase() {
  std::vector<std::string> devices;
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
    std::array<EGLDeviceEXT, 16> found{};
    EGLint count = 0;
    eglQueryDevicesEXT(static_cast<EGLint>(found.size()), found.data(), &count);
    for (EGLint i = 0; i < count; ++i)
      devices.push_back(described(
          fmt::format("device {}", i),
          eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, found[static_cast<std::size_t>(i)], nullptr)));
  }
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    devices.push_back(
        described("Mesa without a device",
                  eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)));
  return JsonObject().json("devices", json_array(devices)).written();
}

}  // namespace headwise::gpu_bench
