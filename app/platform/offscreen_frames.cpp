#include "app/platform/offscreen_frames.h"

#include <epoxy/gl.h>

#include "app/gl/driver.h"

namespace headwise {

OffscreenFrames::OffscreenFrames(int width, int height, std::shared_ptr<FontAtlas> fonts, OffscreenDebug debug)
    : context_(width, height, OffscreenUse::pictures, debug),
      imgui_(std::move(fonts)),
      renderer_(gl::renderer_name()) {
  input_.width = width;
  input_.height = height;
  input_.content_scale = imgui_.scale();
}

const FrameResult& OffscreenFrames::draw(const FrameFunction& frame, double seconds) {
  input_.seconds = seconds;
  queue_.feed_frame(input_);
  const bool resized = input_.width != context_.width() || input_.height != context_.height();
  if (resized && input_.width > 0 && input_.height > 0) context_.resize(input_.width, input_.height);
  imgui_.settle_fonts(input_.content_scale * result_.font_scale);
  context_.bind();
  imgui_.begin_frame(context_.width(), context_.height(), seconds);
  if (frame) result_ = frame(input_, imgui_.fonts(), imgui_.scale());
  if (imgui_.end_frame_if_changed(result_)) ++pictures_;
  return result_;
}

void OffscreenFrames::finish_drawing() {
  glFinish();
}

}  // namespace headwise
