#include "app/platform/lost_display.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "core/tensor/error.h"

namespace headwise {

namespace {

using IoErrorHandler = int (*)(void* display);

// Xlib is in an undefined state here: none of it, and so none of GLFW or GL, may be called any more.
int end_process(void*) {
  constexpr std::string_view line =
      "headwise: window: the connection to the X display was lost; start headwise again\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) {
    // There is no way left to report it.
  }
  std::_Exit(static_cast<int>(ExitStatus::no_display));
}

}  // namespace

void report_lost_display() {
  // GLFW loads Xlib itself, so Headwise does not link to it.
  void* xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (xlib == nullptr) return;
  const auto set_handler =
      reinterpret_cast<IoErrorHandler (*)(IoErrorHandler)>(dlsym(xlib, "XSetIOErrorHandler"));
  if (set_handler != nullptr) set_handler(end_process);
  dlclose(xlib);
}

}  // namespace headwise
