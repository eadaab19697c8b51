// Dear ImGui from start to end: its context, its OpenGL backend, its fonts. The current GL context must stay
// current.
#pragma once

#include <imgui.h>

#include <memory>
#include <span>

#include "app/platform/drawn_frame.h"
#include "app/platform/fonts.h"
#include "app/platform/frame_function.h"
#include "app/platform/needed_characters.h"

namespace headwise {

class ImGuiLifetime {
 public:
  // scale: pixels per design unit. Keyboard navigation is off: the program has an own focus order. No ini
  // file is read or written.
  explicit ImGuiLifetime(float scale = 1.0f) : ImGuiLifetime(std::make_shared<FontAtlas>(scale)) {}
  // Fonts that were built before, perhaps in another thread.
  explicit ImGuiLifetime(std::shared_ptr<FontAtlas> fonts);
  ~ImGuiLifetime();
  ImGuiLifetime(const ImGuiLifetime&) = delete;
  ImGuiLifetime& operator=(const ImGuiLifetime&) = delete;

  const Fonts& fonts() const { return fonts_; }
  float scale() const { return atlas_->scale(); }
  // Between frames: builds the fonts anew where the scale has changed, or where the last frame's texts had characters that
  // the fonts lack (needed_characters.h) and a font of the system has.
  void settle_fonts(float scale);
  // The next frame has characters that the last one had to name.
  bool fonts_unsettled() const { return needed_.unsettled; }

  // Everything is measured in pixels of the framebuffer, whatever the display's scale.
  void begin_frame(int width, int height, double seconds_since_last);
  // Ends the frame and draws it into the framebuffer that is bound, over `ground` (red, green, blue in
  // [0,1]) and over `grounds`.
  void end_frame(ImVec4 ground, std::span<const GroundRect> grounds = {});
  // The same, for one framebuffer that keeps its picture: where that would not change, nothing is drawn. Whether it was.
  bool end_frame_if_changed(const FrameResult& result);
  // That framebuffer has lost its picture: the next frame is drawn.
  void forget_picture() { drawn_.forget(); }
  // Ends the frame and draws nothing.
  void discard_frame();

 private:
  std::shared_ptr<FontAtlas> atlas_;
  ImGuiContext* context_;
  ImTextureID texture_ = nullptr;  // the atlas on this GL context; others may share the atlas
  Fonts fonts_;
  NeededCharacters needed_;
  DrawnFrame drawn_;
};

}  // namespace headwise
