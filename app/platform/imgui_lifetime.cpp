#include "app/platform/imgui_lifetime.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>

#include "app/platform/imgui_keys.h"

namespace headwise {

namespace {

void clear_to(ImVec4 color) {
  glClearColor(color.x, color.y, color.z, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
}

// Draws the frame that ImGui has ended.
void draw(ImVec4 ground, std::span<const GroundRect> grounds) {
  glDisable(GL_SCISSOR_TEST);
  clear_to(ground);
  const int height = static_cast<int>(ImGui::GetIO().DisplaySize.y);
  if (!grounds.empty()) glEnable(GL_SCISSOR_TEST);
  for (const GroundRect& rect : grounds) {
    glScissor(rect.x, height - rect.y - rect.height, std::max(0, rect.width), std::max(0, rect.height));
    clear_to(rect.color);
  }
  glDisable(GL_SCISSOR_TEST);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

// The backend has no need of the four bytes a pixel that it has made of the atlas's one.
void forget_coloured_pixels(ImFontAtlas& atlas) {
  ImGui::MemFree(atlas.TexPixelsRGBA32);
  atlas.TexPixelsRGBA32 = nullptr;
}

}  // namespace

ImGuiLifetime::ImGuiLifetime(std::shared_ptr<FontAtlas> fonts)
    : atlas_(std::move(fonts)), context_(ImGui::CreateContext(&atlas_->glyphs())), fonts_(atlas_->fonts()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.UserData = &needed_;
  io.ConfigFlags &= ~(ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_NavEnableGamepad);
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  // A blinking text cursor would wake the sleeping program twice a second.
  io.ConfigInputTextCursorBlink = false;
  map_imgui_keys(io);
  ImGui_ImplOpenGL3_Init("#version 330 core");
  ImGui_ImplOpenGL3_CreateDeviceObjects();
  texture_ = io.Fonts->TexID;
  forget_coloured_pixels(*io.Fonts);
}

ImGuiLifetime::~ImGuiLifetime() {
  ImGui::SetCurrentContext(context_);
  // An exception has interrupted a frame: ImGui's fonts are locked until it ends.
  if (atlas_->glyphs().Locked) atlas_->glyphs().Locked = false;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void ImGuiLifetime::settle_fonts(float scale) {
  if (scale == atlas_->scale() && !needed_.unsettled) return;
  needed_.unsettled = false;
  std::shared_ptr<FontAtlas> atlas = font_atlas(scale, needed_.characters);
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui::GetIO().Fonts = &atlas->glyphs();
  ImGui_ImplOpenGL3_CreateFontsTexture();
  texture_ = ImGui::GetIO().Fonts->TexID;
  forget_coloured_pixels(atlas->glyphs());
  atlas_ = std::move(atlas);
  fonts_ = atlas_->fonts();
  drawn_.forget();  // another texture may reuse the old one's name
}

void ImGuiLifetime::begin_frame(int width, int height, double seconds_since_last) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  io.DisplayFramebufferScale = ImVec2(1, 1);
  // ImGui rejects a zero time step; more than a second after a sleep would skip fades and blinking.
  io.DeltaTime = static_cast<float>(std::clamp(seconds_since_last, 1e-4, 1.0));
  io.Fonts->SetTexID(texture_);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void ImGuiLifetime::end_frame(ImVec4 ground, std::span<const GroundRect> grounds) {
  ImGui::Render();
  draw(ground, grounds);
}

bool ImGuiLifetime::end_frame_if_changed(const FrameResult& result) {
  ImGui::Render();
  if (drawn_.as_before(*ImGui::GetDrawData(), result.ground, result.grounds, result.callbacks_as_before))
    return false;
  draw(result.ground, result.grounds);
  return true;
}

void ImGuiLifetime::discard_frame() {
  ImGui::EndFrame();
}

}  // namespace headwise
