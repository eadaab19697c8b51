// The window on the desktop (GLFW, OpenGL), its events and its clipboard. One per process.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/platform/driver.h"
#include "app/platform/frame_function.h"
#include "app/platform/imgui_lifetime.h"
#include "app/platform/input_queue.h"

struct GLFWwindow;
struct GLFWcursor;

namespace headwise {

// Which key a chord means. GLFW numbers keys by their position on an American keyboard; Ctrl+Z means the
// letter printed on the key.
class KeyboardLayout {
 public:
  // The number to report for a press or a release. A release is reported like its press, even if the layout
  // changes in between.
  int translate(int glfw_key, int scancode, bool down);

 private:
  std::array<int, 512> reported_{};  // by GLFW key, while it is down; 0: none
};

// The number for a key with this label ("z", "+", "ß"), which may be null.
int key_for_label(int glfw_key, const char* label);

class Window {
 public:
  // width, height: in design units, reduced to fit the screen. The context is OpenGL 3.3 core or newer and
  // current on this thread. Throws Error(no_display), in one clear line, if there is no display or only an
  // older GL. With HEADWISE_GL_DEBUG in the environment,
  // the graphics driver's complaints are written to stderr.
  Window(const std::string& title, int width, int height);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // The window's events; filled by the two calls below.
  InputQueue& input() { return input_; }
  // Takes the pending events and returns at once.
  void poll_events();
  // Sleeps until something happens or the time (which may be infinite) has passed.
  void wait_events(double seconds);
  // Ends a wait; callable from any thread, while the window lives.
  static void wake();

  bool minimised() const;
  int framebuffer_width() const;  // pixels
  int framebuffer_height() const;
  float content_scale() const;     // pixels per design unit
  double refresh_seconds() const;  // of the display: the shortest time between two visible frames

  void set_title(const std::string& title);
  void set_full_screen(bool full_screen);
  // As ImGui's current context requests it: arrow, text, hand, resize.
  void show_mouse_cursor();
  // Makes ImGui's current context copy and paste through the desktop's clipboard (text only).
  void share_clipboard();
  void swap_buffers();

  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5": for the status line and error reports.
  std::string renderer() const;

 private:
  void connect();  // GLFW's callbacks to the queue
  struct Glfw {    // the library, from first to last
    Glfw();
    ~Glfw();
  };
  struct Placement {
    int x = 0, y = 0, width = 0, height = 0;
  };

  Glfw glfw_;
  GLFWwindow* window_ = nullptr;
  std::optional<gl::DebugOutput> debug_output_;
  InputQueue input_;
  std::string title_;
  bool full_screen_ = false;
  Placement windowed_;  // its placement before it filled the screen
  KeyboardLayout layout_;
  std::array<GLFWcursor*, 9> cursors_ = {};  // by ImGuiMouseCursor_
  int shown_cursor_ = 0;
};

// Runs the window: events in, frames out, asleep in between. Knows nothing about the frames' contents.

// Runs until the frame function quits. Nothing is drawn while nothing happens or the window is minimised.
// Throws Error(no_display) if the graphics driver was reset and the context is lost
// (HEADWISE_LOSE_CONTEXT_AFTER simulates this after the given frame). font_scale: for the first frame,
// before a result specifies one.
void run_event_loop(Window& window, ImGuiLifetime& imgui, const FrameFunction& frame, float font_scale = 1.0f);

}  // namespace headwise
