// The lifetime of Dear ImGui: its context, its OpenGL backend, its fonts.
// The current GL context must stay current.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <imgui.h>

#include "app/platform/fonts.h"
#include "app/platform/frame_function.h"

namespace headwise {

// Maps GLFW's key numbers to ImGui.

// ImGui receives keys by GLFW's numbers: io.KeysDown[GLFW_KEY_A], ImGui::IsKeyPressed(GLFW_KEY_A).
void map_imgui_keys(ImGuiIO& io);

bool is_modifier_key(int glfw_key);
// io.KeyCtrl, KeyShift, KeyAlt, KeySuper from io.KeysDown; left and right count the same.
void set_imgui_modifiers(ImGuiIO& io);

// Detects whether an ImGui frame would give the same picture as the previous one, so that it need not be
// drawn. With software rasterisation a picture costs a good part of what the attention it shows costs.

class DrawnFrame {
 public:
  // Whether shapes, grounds and size are the same as in the last call. It cannot see what callbacks draw: if
  // there are any, they draw the same only if `callbacks_as_before`.
  bool as_before(const ImDrawData& shapes, ImVec4 ground, std::span<const GroundRect> grounds,
                 bool callbacks_as_before);
  // Makes the next frame count as changed.
  void forget() { before_.clear(); }

 private:
  std::vector<char> now_, before_;  // everything that determines the picture, concatenated
};

class ImGuiLifetime {
 public:
  // scale: pixels per design unit. Keyboard navigation is off: the program has its own focus order. No ini
  // file is read or written.
  explicit ImGuiLifetime(float scale = 1.0f) : ImGuiLifetime(font_atlas(scale)) {}
  // With fonts built beforehand, perhaps on another thread.
  explicit ImGuiLifetime(std::shared_ptr<FontAtlas> fonts);
  ~ImGuiLifetime();
  ImGuiLifetime(const ImGuiLifetime&) = delete;
  ImGuiLifetime& operator=(const ImGuiLifetime&) = delete;

  const Fonts& fonts() const { return fonts_; }
  float scale() const { return atlas_->scale(); }
  // Between frames: rebuilds the fonts if the scale has changed, or if the last frame's texts had characters
  // that the fonts lack (needed_characters.h) and a system font has.
  void settle_fonts(float scale);
  // The next frame has characters that the last one could only show by name.
  bool fonts_unsettled() const { return needed_.unsettled; }

  // Everything is measured in framebuffer pixels, whatever the display's scale.
  void begin_frame(int width, int height, double seconds_since_last);
  // Ends the frame and draws it into the bound framebuffer, over `ground` (red, green, blue in [0,1])
  // and over `grounds`.
  void end_frame(ImVec4 ground, std::span<const GroundRect> grounds = {});
  // The same, for a framebuffer that keeps its picture: if that would not change, nothing is drawn. Returns
  // whether it was drawn.
  bool end_frame_if_changed(const FrameResult& result);
  // That framebuffer has lost its picture: forces the next frame to be drawn.
  void forget_picture() { drawn_.forget(); }
  // Ends the frame without drawing.
  void discard_frame();

 private:
  std::shared_ptr<FontAtlas> atlas_;
  ImGuiContext* context_;
  ImTextureID texture_ = nullptr;  // the atlas in this GL context; others may share the atlas
  Fonts fonts_;
  NeededCharacters needed_;
  DrawnFrame drawn_;
};

}  // namespace headwise
