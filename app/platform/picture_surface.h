// Pictures of what ImGui draws, at any size, even while a window is in the middle of a frame: a separate
// ImGui context and framebuffer, on the current OpenGL context.
#pragma once

#include <imgui.h>

#include <array>
#include <functional>

#include "app/gl/drawing_objects.h"
#include "app/platform/imgui_lifetime.h"
#include "core/picture/image.h"

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
    void give_back() const;

    ImGuiContext* context;
    ImTextureID texture;
  };
  // What was current before, with the framebuffer and its viewport.
  struct Outer {
    Outer();
    void give_back() const;

    OuterContext context;
    int framebuffer = 0;
    std::array<int, 4> viewport{};
  };
  // Restores it at the end of a call, however that ends.
  struct Returning {
    Outer outer;
    ~Returning() { outer.give_back(); }
  };
  // Makes no ImGui context current (a new one becomes current only if there is none); on destruction the
  // previous one is again.
  struct Away {
    Away() { ImGui::SetCurrentContext(nullptr); }
    ~Away() { back_to.give_back(); }
    OuterContext back_to;
  };
  void begin();

  // In this order: the members after `away_` make other things current, and are destroyed before it.
  Outer at_first_;
  Away away_;
  gl::Framebuffer framebuffer_;
  ImGuiLifetime imgui_;
};

}  // namespace headwise
