#include "app/platform/picture_surface.h"

#include <epoxy/gl.h>

#include <cfloat>

#include "app/platform/driver.h"

namespace headwise {
namespace {

constexpr int frames_of_picture = 2;

}  // namespace

PictureSurface::OuterContext::OuterContext()
    : context(ImGui::GetCurrentContext()), texture(context ? ImGui::GetIO().Fonts->TexID : nullptr) {}

void PictureSurface::OuterContext::restore() const {
  ImGui::SetCurrentContext(context);
  if (context) ImGui::GetIO().Fonts->SetTexID(texture);
}

PictureSurface::Outer::Outer() {
  glGetIntegerv(GL_FRAMEBUFFER_BINDING, &framebuffer);
  glGetIntegerv(GL_VIEWPORT, viewport.data());
}

void PictureSurface::Outer::restore() const {
  context.restore();
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(framebuffer));
  glViewport(viewport[0], viewport[1], viewport[2], viewport[3]);
}

PictureSurface::PictureSurface(int width, int height, float scale)
    : framebuffer_("picture", width, height), imgui_(scale) {
  at_first_.restore();
}

PictureSurface::~PictureSurface() {
  context_removal_.previous = OuterContext();
}

void PictureSurface::begin() {
  imgui_.settle_fonts(imgui_.scale());
  imgui_.begin_frame(framebuffer_.width(), framebuffer_.height(), 1.0 / 60.0);
  ImGui::GetIO().MousePos = {-FLT_MAX, -FLT_MAX};
}

Image PictureSurface::image(const Draw& draw, ImVec4 ground) {
  const Returning returning;
  for (int i = 0; i < frames_of_picture; ++i) {
    begin();
    draw(imgui_.fonts(), imgui_.scale());
    framebuffer_.bind();
    imgui_.end_frame(ground);
  }
  return {framebuffer_.width(), framebuffer_.height(), framebuffer_.read_pixels()};
}

void PictureSurface::shapes(const Draw& draw, const std::function<void(const ImDrawData&, const Fonts&)>& take) {
  const Returning returning;
  for (int i = 0; i <= frames_of_picture; ++i) {
    begin();
    draw(imgui_.fonts(), imgui_.scale());
    ImGui::Render();
    // Takes effect when the next frame begins: the first is still smooth.
    ImGuiStyle& style = ImGui::GetStyle();
    style.AntiAliasedFill = style.AntiAliasedLines = style.AntiAliasedLinesUseTex = false;
  }
  take(*ImGui::GetDrawData(), imgui_.fonts());
}

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
