// User input as a queue that feeds ImGui. ImGui 1.86 sees only the state at the start of a frame, so a tap
// that begins and ends between two frames would be lost: the queue delivers at most one transition of a key
// or button per frame, in order. It is filled by the window's callbacks, and by tests.
#pragma once

#include <deque>
#include <string>
#include <variant>
#include <vector>

namespace headwise {

// In framebuffer pixels from the top left corner.
struct MouseMoved {
  double x, y;
};
struct MouseLeft {};  // the pointer is outside the window
// 0 left, 1 right, 2 middle; 3 and 4 additional buttons.
struct MouseButtonChanged {
  int button;
  bool down;
};
// Notches; up and right are positive.
struct MouseWheelTurned {
  double x, y;
};
// Numbered as in GLFW. Repeats of a held key are not events: ImGui generates its own.
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
// The window system requests a redraw, or a background task has something to show.
struct RedrawRequested {};

using InputEvent =
    std::variant<MouseMoved, MouseLeft, MouseButtonChanged, MouseWheelTurned, KeyChanged, TextEntered,
                 WindowResized, FocusChanged, ScaleChanged, FilesDropped, CloseRequested, RedrawRequested>;

// What one frame receives in addition to what ImGui knows.
struct FrameInput {
  int width = 0, height = 0;         // of the framebuffer, in pixels
  float content_scale = 1.0f;        // pixels per design unit, from the display
  double seconds = 1.0 / 60.0;       // since the last frame; at most 1/60 after an unbounded sleep
  double slept_seconds = 0.0;        // what else has passed: for clocks, which run on in a sleep
  std::vector<std::string> dropped;  // files and folders
  bool close_requested = false;      // by the window's own button
};

class InputQueue {
 public:
  void push(InputEvent event) { events_.push_back(std::move(event)); }
  // True while events wait for a frame.
  bool pending() const { return !events_.empty(); }

  // Passes as many events as fit into one frame to ImGui (the current context) and `frame`; the rest stays
  // for the next ones. Call before ImGui::NewFrame.
  void feed_frame(FrameInput& frame);

 private:
  class Feeder;
  std::deque<InputEvent> events_;
};

}  // namespace headwise
