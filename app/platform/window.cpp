#include "app/platform/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <dlfcn.h>
#include <epoxy/gl.h>
#include <fmt/format.h>
#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/gpu/gpu_faults.h"
#include "core/tensor/error.h"

namespace headwise {

int key_for_label(int glfw_key, const char* label) {
  // Digits keep their positions: some layouts have them behind Shift, and they are still meant.
  if (label == nullptr || label[0] == '\0' || label[1] != '\0') return glfw_key;
  const char character = label[0];
  if (character >= 'a' && character <= 'z') return character - 'a' + GLFW_KEY_A;
  if (character >= 'A' && character <= 'Z') return character;
  switch (character) {
    case '+':
      return GLFW_KEY_KP_ADD;
    case '-':
      return GLFW_KEY_MINUS;
    case '=':
      return GLFW_KEY_EQUAL;
    default:
      return glfw_key;
  }
}

int KeyboardLayout::translate(int glfw_key, int scancode, bool down) {
  if (glfw_key < 0 || glfw_key >= static_cast<int>(reported_.size())) return glfw_key;
  int& reported = reported_[static_cast<std::size_t>(glfw_key)];
  const bool printable = glfw_key > GLFW_KEY_SPACE && glfw_key <= GLFW_KEY_WORLD_2;
  if (down)
    return reported = printable ? key_for_label(glfw_key, glfwGetKeyName(glfw_key, scancode)) : glfw_key;
  const int key = reported != 0 ? reported : glfw_key;
  reported = 0;
  return key;
}

namespace {

// The X server disappeared (a remote session ended, the server crashed): by default Xlib ends the process
// with its own message.

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

// From now on a lost X display ends the process with exit status 7 and one line. Call after GLFW has opened
// it; does nothing if Xlib is not in use.
void report_lost_display() {
  // GLFW loads Xlib itself, so Headwise does not link to it.
  void* xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (xlib == nullptr) return;
  const auto set_handler =
      reinterpret_cast<IoErrorHandler (*)(IoErrorHandler)>(dlsym(xlib, "XSetIOErrorHandler"));
  if (set_handler != nullptr) set_handler(end_process);
  dlclose(xlib);
}

// GLFW reports the reason for a failure through a callback only.
std::string last_glfw_error;
std::atomic<bool> woken = false;

std::string variable_and_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fmt::format("{} not set", name) : fmt::format("{}={}", name, value);
}

Error no_display() {
  return Error(
      ExitStatus::no_display,
      {.where = "window",
       .what = "no display could be opened",
       .got = fmt::format("{}, {}", variable_and_value("DISPLAY"), variable_and_value("WAYLAND_DISPLAY")),
       .expected = "an X11 or Wayland session",
       .remedy = "start it from a desktop; `headwise export` and `headwise run` need no display"});
}

Error no_opengl(const std::string& got) {
  return Error(ExitStatus::no_display,
               {.where = "window",
                .what = "the display has no usable OpenGL",
                .got = got,
                .expected = "OpenGL 3.3 core or newer",
                .remedy = "update the graphics driver, or set LIBGL_ALWAYS_SOFTWARE=1"});
}

std::string gl_text(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text == nullptr ? "unknown" : reinterpret_cast<const char*>(text);
}

// By ImGuiMouseCursor_; 0: GLFW 3.3 has no such shape, so the arrow is used.
constexpr int cursor_shapes[] = {GLFW_ARROW_CURSOR,
                                 GLFW_IBEAM_CURSOR,
                                 0,
                                 GLFW_VRESIZE_CURSOR,
                                 GLFW_HRESIZE_CURSOR,
                                 0,
                                 0,
                                 GLFW_HAND_CURSOR,
                                 0};

static_assert(std::size(cursor_shapes) == ImGuiMouseCursor_COUNT);

}  // namespace

Window::Glfw::Glfw() {
  glfwSetErrorCallback([](int, const char* text) { last_glfw_error = text; });
  if (glfwInit() != GLFW_TRUE) throw no_display();
  report_lost_display();
}

Window::Glfw::~Glfw() {
  glfwTerminate();
}

Window::Window(const std::string& title, int width, int height) : title_(title) {
  gl::require_context_memory();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  // Everything draws its own edges: neither depth nor samples are needed.
  glfwWindowHint(GLFW_DEPTH_BITS, 0);
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "headwise");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "headwise");
  // Report a driver reset instead of drawing on into nothing, if the driver can.
  glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
  const bool wants_debug = std::getenv("HEADWISE_GL_DEBUG") != nullptr;
  glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, wants_debug ? GLFW_TRUE : GLFW_FALSE);
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
    int x = 0, y = 0, room_width = 0, room_height = 0;
    float scale = 1.0f, scale_y = 1.0f;
    glfwGetMonitorWorkarea(monitor, &x, &y, &room_width, &room_height);
    glfwGetMonitorContentScale(monitor, &scale, &scale_y);
    const auto fitting = [scale](int wanted, int room) {
      return room > 0 ? std::min(wanted, static_cast<int>(static_cast<float>(room) / scale)) : wanted;
    };
    width = fitting(width, room_width);
    height = fitting(height, room_height);
  }
  window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (window_ == nullptr) throw no_opengl(last_glfw_error);
  glfwMakeContextCurrent(window_);
  if (epoxy_gl_version() < 33)
    throw no_opengl(fmt::format("OpenGL {} ({})", gl_text(GL_VERSION), gl_text(GL_RENDERER)));
  if (wants_debug)
    debug_output_.emplace([](const gl::DebugMessage& message) {
      fmt::print(stderr, "headwise: OpenGL: {}\n", one_line(message.text));
    });
  glfwSwapInterval(1);
  connect();
  input_.push(WindowResized{framebuffer_width(), framebuffer_height()});
  input_.push(ScaleChanged{content_scale()});
}

Window::~Window() {
  debug_output_.reset();
  for (GLFWcursor* cursor : cursors_)
    if (cursor != nullptr) glfwDestroyCursor(cursor);
  glfwDestroyWindow(window_);
}

void Window::connect() {
  glfwSetWindowUserPointer(window_, this);
  // GLFW's callbacks are plain functions: each finds its window again through the pointer that the window
  // carries.
  static const auto queue = [](GLFWwindow* window) -> InputQueue& {
    return static_cast<Window*>(glfwGetWindowUserPointer(window))->input_;
  };
  glfwSetCursorPosCallback(window_, [](GLFWwindow* window, double x, double y) {
    // Some displays count in points, which consist of several pixels.
    int width = 0, height = 0, pixels_x = 0, pixels_y = 0;
    glfwGetWindowSize(window, &width, &height);
    glfwGetFramebufferSize(window, &pixels_x, &pixels_y);
    if (width > 0 && height > 0) queue(window).push(MouseMoved{x * pixels_x / width, y * pixels_y / height});
  });
  glfwSetCursorEnterCallback(window_, [](GLFWwindow* window, int entered) {
    if (entered == GLFW_FALSE) queue(window).push(MouseLeft{});
  });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int) {
    queue(window).push(MouseButtonChanged{button, action == GLFW_PRESS});
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* window, double x, double y) {
    queue(window).push(MouseWheelTurned{x, y});
  });
  glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int scancode, int action, int) {
    // A repeat only has to wake the program: ImGui itself times how long a key is held.
    if (action == GLFW_REPEAT) return queue(window).push(RedrawRequested{});
    const bool down = action == GLFW_PRESS;
    KeyboardLayout& layout = static_cast<Window*>(glfwGetWindowUserPointer(window))->layout_;
    queue(window).push(KeyChanged{layout.translate(key, scancode, down), down});
  });
  glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned character) {
    queue(window).push(TextEntered{static_cast<char32_t>(character)});
  });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* window, int width, int height) {
    queue(window).push(WindowResized{width, height});
  });
  glfwSetWindowContentScaleCallback(
      window_, [](GLFWwindow* window, float scale, float) { queue(window).push(ScaleChanged{scale}); });
  glfwSetWindowFocusCallback(window_, [](GLFWwindow* window, int focused) {
    queue(window).push(FocusChanged{focused == GLFW_TRUE});
  });
  glfwSetWindowIconifyCallback(window_, [](GLFWwindow* window, int) { queue(window).push(RedrawRequested{}); });
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* window) { queue(window).push(RedrawRequested{}); });
  glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
    queue(window).push(FilesDropped{{paths, paths + count}});
  });
  glfwSetWindowCloseCallback(window_, [](GLFWwindow* window) {
    // The frame function decides whether the window closes.
    glfwSetWindowShouldClose(window, GLFW_FALSE);
    queue(window).push(CloseRequested{});
  });
}

void Window::poll_events() {
  glfwPollEvents();
  if (woken.exchange(false)) input_.push(RedrawRequested{});
}

void Window::wait_events(double seconds) {
  if (std::isinf(seconds))
    glfwWaitEvents();
  else if (seconds > 0)
    glfwWaitEventsTimeout(seconds);
  poll_events();
}

void Window::wake() {
  woken = true;
  glfwPostEmptyEvent();
}

bool Window::minimised() const {
  return glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == GLFW_TRUE;
}

int Window::framebuffer_width() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  return width;
}

int Window::framebuffer_height() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  return height;
}

float Window::content_scale() const {
  float x = 1.0f, y = 1.0f;
  glfwGetWindowContentScale(window_, &x, &y);
  return x;
}

double Window::refresh_seconds() const {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  return 1.0 / (mode == nullptr || mode->refreshRate <= 0 ? 60 : mode->refreshRate);
}

void Window::set_title(const std::string& title) {
  if (title == title_) return;
  title_ = title;
  glfwSetWindowTitle(window_, title_.c_str());
}

void Window::set_full_screen(bool full_screen) {
  if (full_screen == full_screen_) return;
  full_screen_ = full_screen;
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  if (!full_screen) {
    glfwSetWindowMonitor(window_, nullptr, windowed_.x, windowed_.y, windowed_.width, windowed_.height,
                         GLFW_DONT_CARE);
  } else if (const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor)) {
    glfwGetWindowPos(window_, &windowed_.x, &windowed_.y);
    glfwGetWindowSize(window_, &windowed_.width, &windowed_.height);
    glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
  } else {
    full_screen_ = false;
  }
}

void Window::show_mouse_cursor() {
  const int wanted = ImGui::GetMouseCursor();
  const int shape = wanted < 0 ? ImGuiMouseCursor_Arrow : wanted;
  if (shape == shown_cursor_) return;
  shown_cursor_ = shape;
  const auto at = static_cast<std::size_t>(shape);
  if (cursors_[at] == nullptr && cursor_shapes[at] != 0)
    cursors_[at] = glfwCreateStandardCursor(cursor_shapes[at]);
  glfwSetCursor(window_, cursors_[at]);
}

void Window::share_clipboard() {
  ImGuiIO& io = ImGui::GetIO();
  io.GetClipboardTextFn = [](void*) { return glfwGetClipboardString(nullptr); };
  io.SetClipboardTextFn = [](void*, const char* text) { glfwSetClipboardString(nullptr, text); };
}

void Window::swap_buffers() {
  glfwSwapBuffers(window_);
}

std::string Window::renderer() const {
  return gl::renderer_name();
}

namespace {

// ImGui settles a frame or two after an event (what is hovered, what a popup covers),
// so a few frames follow each one.
constexpr int settling_frames = 3;

// An animation that starts after a sleep starts at its beginning, however long the sleep was.
constexpr double usual_seconds = 1.0 / 60.0;

constexpr double forever = std::numeric_limits<double>::infinity();

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Which frame is to be the last, for a test of what happens then; 0: none.
int simulated_loss() {
  const char* frame = std::getenv("HEADWISE_LOSE_CONTEXT_AFTER");
  return frame == nullptr ? 0 : std::atoi(frame);
}

class EventLoop {
 public:
  EventLoop(Window& window, ImGuiLifetime& imgui, const FrameFunction& frame, float font_scale)
      : window_(window), imgui_(imgui), frame_(frame) {
    result_.font_scale = font_scale;
    window.share_clipboard();
  }

  void run() {
    while (!result_.quit) {
      sleep();
      if (window_.input().pending()) frames_due_ = settling_frames;
      const double next = std::min(result_.wake_after, result_.write_after);
      if (frames_due_ > 0 || result_.animating || seconds_since(last_frame_) >= next) draw();
    }
  }

 private:
  void sleep() {
    if (window_.input().pending() || frames_due_ > 0) return window_.poll_events();
    // If the driver does not wait for the display, invisible frames would be drawn.
    const double until_next = window_.minimised() ? forever
                              : result_.animating ? window_.refresh_seconds()
                                                  : result_.wake_after;
    window_.wait_events(std::min(until_next, result_.write_after) - seconds_since(last_frame_));
  }

  void draw() {
    --frames_due_;
    const double elapsed = seconds_since(last_frame_);
    last_frame_ = Clock::now();
    const bool slept = !result_.animating && std::isinf(result_.wake_after);
    input_.seconds = slept ? std::min(elapsed, usual_seconds) : elapsed;
    input_.slept_seconds = elapsed - input_.seconds;
    // An event may mean that the picture on the screen is lost.
    // Frames that only settle are drawn if they differ.
    if (window_.input().pending()) imgui_.forget_picture();
    window_.input().feed_frame(input_);
    imgui_.settle_fonts(input_.content_scale * result_.font_scale);
    const int width = std::max(1, input_.width), height = std::max(1, input_.height);
    imgui_.begin_frame(width, height, elapsed);
    result_ = frame_(input_, imgui_.fonts(), imgui_.scale());
    if (imgui_.fonts_unsettled()) frames_due_ = settling_frames;
    if (window_.minimised()) return imgui_.discard_frame();
    glViewport(0, 0, width, height);
    const bool drawn = imgui_.end_frame_if_changed(result_);
    window_.show_mouse_cursor();
    if (!result_.title.empty()) window_.set_title(result_.title);
    window_.set_full_screen(result_.full_screen);
    if (drawn) window_.swap_buffers();
    if (context_lost() || --frames_to_simulated_loss_ == 0) {
      throw Error(ExitStatus::no_display, {.where = "window",
                                           .what = "the graphics driver was reset and has lost the picture",
                                           .remedy = "start headwise again"});
    }
  }

  Window& window_;
  ImGuiLifetime& imgui_;
  const FrameFunction& frame_;
  FrameInput input_;
  FrameResult result_;
  Clock::time_point last_frame_ = Clock::now();
  int frames_due_ = 0;
  int frames_to_simulated_loss_ = simulated_loss();
};

}  // namespace

void run_event_loop(Window& window, ImGuiLifetime& imgui, const FrameFunction& frame, float font_scale) {
  EventLoop(window, imgui, frame, font_scale).run();
}

}  // namespace headwise
