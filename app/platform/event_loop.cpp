#include "app/platform/event_loop.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "app/gl/driver.h"
#include "core/tensor/error.h"

namespace headwise {

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
    if (gl::context_lost() || --frames_to_simulated_loss_ == 0) {
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
