// The window on the desktop (GLFW, OpenGL), its events and its clipboard. One a process.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/gl/debug_output.h"
#include "app/platform/input_queue.h"
#include "app/platform/keyboard_layout.h"

struct GLFWwindow;
struct GLFWcursor;

namespace headwise {

class Window {
 public:
  // width, height: in design units, made smaller where the screen is. The context is OpenGL 3.3 core or newer
  // and current in this thread. Throws Error(no_display), in one clear line, where there is no display or
  // only an older GL. With HEADWISE_GL_DEBUG in the environment, what the graphics driver complains of is
  // written to stderr.
  Window(const std::string& title, int width, int height);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // What has happened in the window; filled by the two calls below.
  InputQueue& input() { return input_; }
  // Takes what has happened and returns at once.
  void poll_events();
  // Sleeps until something happens or the seconds (which may be infinite) are over.
  void wait_events(double seconds);
  // Ends a wait; from any thread, while the window lives.
  static void wake();

  bool minimised() const;
  int framebuffer_width() const;  // pixels
  int framebuffer_height() const;
  float content_scale() const;     // pixels per design unit
  double refresh_seconds() const;  // of the display: the shortest time between two frames that can be seen

  void set_title(const std::string& title);
  void set_full_screen(bool full_screen);
  // As ImGui's current context asks for it: arrow, text, hand, resize.
  void show_mouse_cursor();
  // ImGui's current context copies and pastes through the desktop's clipboard (text only).
  void share_clipboard();
  void swap_buffers();

  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5": for the status line and for reports of errors.
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
  Placement windowed_;  // where it was before it filled the screen
  KeyboardLayout layout_;
  std::array<GLFWcursor*, 9> cursors_ = {};  // by ImGuiMouseCursor_
  int shown_cursor_ = 0;
};

}  // namespace headwise
