// What the person does, as a queue that ImGui is fed from. ImGui 1.86 sees only the state at the start of a
// frame, so a tap that begins and ends between two frames would be lost: the queue hands over at most one
// transition of a key or button a frame, in order. The window's callbacks fill it, and so do tests.
#pragma once

#include <deque>
#include <string>
#include <variant>
#include <vector>

namespace headwise {

// Pixels of the framebuffer from its top left corner.
struct MouseMoved {
  double x, y;
};
struct MouseLeft {};  // the pointer is outside the window
// 0 left, 1 right, 2 middle; 3 and 4 further ones.
struct MouseButtonChanged {
  int button;
  bool down;
};
// Notches; up and right are positive.
struct MouseWheelTurned {
  double x, y;
};
// Numbered as GLFW numbers keys. Repeats of a key that is held are not events: ImGui makes its own.
struct KeyChanged {
  int key;
  bool down;
};
struct TextEntered {
  char32_t character;
};
// The framebuffer, in pixels; 0 while minimised.
struct WindowResized {
  int width, height;
};
struct FocusChanged {
  bool focused;
};
// Pixels per design unit, from the display.
struct ScaleChanged {
  float scale;
};
struct FilesDropped {
  std::vector<std::string> paths;
};
struct CloseRequested {};
// The window system asks for the picture anew, or a background task has something to show.
struct RedrawRequested {};

using InputEvent =
    std::variant<MouseMoved, MouseLeft, MouseButtonChanged, MouseWheelTurned, KeyChanged, TextEntered,
                 WindowResized, FocusChanged, ScaleChanged, FilesDropped, CloseRequested, RedrawRequested>;

// What one frame is told beside what ImGui knows.
struct FrameInput {
  int width = 0, height = 0;         // of the framebuffer, in pixels
  float content_scale = 1.0f;        // pixels per design unit, from the display
  double seconds = 1.0 / 60.0;       // since the last frame; 1/60 at most after a sleep without an end
  std::vector<std::string> dropped;  // files and folders
  bool close_requested = false;      // by the window's own button
};

class InputQueue {
 public:
  void push(InputEvent event) { events_.push_back(std::move(event)); }
  // True while events wait for a frame.
  bool pending() const { return !events_.empty(); }

  // Tells ImGui (the current context) and `frame` as much as fits into one frame; the rest stays for the next
  // ones. Call before ImGui::NewFrame.
  void feed_frame(FrameInput& frame);

 private:
  class Feeder;
  std::deque<InputEvent> events_;
};

}  // namespace headwise
