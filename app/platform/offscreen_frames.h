// The window's frames without a window: an offscreen context, ImGui, and the queue that user events come
// through. For tests, measurements and pictures of the window.
#pragma once

#include <memory>
#include <string>

#include "app/gl/offscreen_context.h"
#include "app/platform/frame_function.h"
#include "app/platform/imgui_lifetime.h"

namespace headwise {

class OffscreenFrames {
 public:
  // width, height > 0, in pixels. The context is current from here on; `fonts` may be shared with others of
  // the same scale. Throws Error(no_display) if EGL has no OpenGL.
  OffscreenFrames(int width, int height, std::shared_ptr<FontAtlas> fonts,
                  OffscreenDebug debug = OffscreenDebug::where_set);
  OffscreenFrames(const OffscreenFrames&) = delete;
  OffscreenFrames& operator=(const OffscreenFrames&) = delete;

  // Seen by the next frames, in order, as described in app/platform/input_queue.h. A size of 0 acts like
  // minimising: the previous frame's size is kept.
  void push(InputEvent event) { queue_.push(std::move(event)); }
  bool pending() const { return queue_.pending(); }

  // One frame; `seconds`: reported as the time since the previous one.
  // Some of GL's work may still be under way.
  const FrameResult& draw(const FrameFunction& frame, double seconds = 1.0 / 60.0);
  // Waits until everything drawn is finished.
  void finish_drawing();

  // Something else has drawn into it: forces the next frame to be drawn.
  void forget_picture() { imgui_.forget_picture(); }
  // How many frames were drawn: a frame that would look like the previous one is not.
  long pictures() const { return pictures_; }

  std::string renderer() const { return renderer_; }
  const FrameResult& result() const { return result_; }
  const FrameInput& input() const { return input_; }
  const Fonts& fonts() const { return imgui_.fonts(); }
  Image pixels() const { return context_.pixels(); }
  int width() const { return context_.width(); }
  int height() const { return context_.height(); }

 private:
  OffscreenContext context_;
  ImGuiLifetime imgui_;
  InputQueue queue_;
  FrameInput input_;
  FrameResult result_;
  std::string renderer_;
  long pictures_ = 0;
};

}  // namespace headwise
