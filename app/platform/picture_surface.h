// Pictures of what ImGui draws, at any size, even while a window is in the middle of a frame: a separate
// ImGui context and framebuffer, on the current OpenGL context.
#pragma once

#include <imgui.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "app/platform/drawing_objects.h"
#include "app/platform/frame_function.h"
#include "app/platform/imgui_lifetime.h"
#include "app/platform/offscreen_context.h"
#include "core/export/image.h"

namespace headwise {

class PictureSurface {
 public:
  // Pixels; scale: pixels per design unit. Needs a current GL context, here and in every call.
  PictureSurface(int width, int height, float scale);
  ~PictureSurface();
  PictureSurface(const PictureSurface&) = delete;
  PictureSurface& operator=(const PictureSurface&) = delete;

  // Fills a frame, without mouse or keyboard; called more than once, until everything that ImGui only knows
  // afterwards has settled.
  using Draw = std::function<void(const Fonts& fonts, float scale)>;
  // Restores what was bound and current before.
  Image image(const Draw& draw, ImVec4 ground);
  // Passes the frame's shapes, without anti-aliasing, to `take`; nothing reaches the framebuffer.
  void shapes(const Draw& draw, const std::function<void(const ImDrawData&, const Fonts&)>& take);

 private:
  // The current ImGui context, if any, and the texture of its fonts:
  // the picture's context may have the same atlas.
  struct OuterContext {
    OuterContext();
    void restore() const;

    ImGuiContext* context;
    ImTextureID texture;
  };
  // What was current before, with the framebuffer and its viewport.
  struct Outer {
    Outer();
    void restore() const;

    OuterContext context;
    int framebuffer = 0;
    std::array<int, 4> viewport{};
  };
  // Restores it at the end of a call, however that ends.
  struct Returning {
    Outer outer;
    ~Returning() { outer.restore(); }
  };
  // Makes no ImGui context current (a new one becomes current only if there is none); on destruction the
  // previous one is again.
  struct ContextRemoval {
    ContextRemoval() { ImGui::SetCurrentContext(nullptr); }
    ~ContextRemoval() { previous.restore(); }
    OuterContext previous;
  };
  void begin();

  // In this order: the members after `context_removal_` make other things current, and are destroyed first.
  Outer at_first_;
  ContextRemoval context_removal_;
  gl::Framebuffer framebuffer_;
  ImGuiLifetime imgui_;
};

// The window's frames without a window: an offscreen context, ImGui, and the queue that user events come
// through. For tests, measurements and pictures of the window.
class OffscreenFrames {
 public:
  // width, height > 0, in pixels. The context is current from here on; `fonts` may be shared with others of
  // the same scale. Throws Error(no_display) if EGL has no OpenGL.
  OffscreenFrames(int width, int height, std::shared_ptr<FontAtlas> fonts,
                  OffscreenDebug debug = OffscreenDebug::from_environment);
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
