#include "app/platform/imgui_lifetime.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>

#include "app/platform/imgui_keys.h"

namespace headwise {

ImGuiLifetime::ImGuiLifetime(float scale) : context_(ImGui::CreateContext()), scale_(scale) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags &= ~(ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_NavEnableGamepad);
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  // A text cursor that blinks would wake the sleeping program twice a second.
  io.ConfigInputTextCursorBlink = false;
  map_imgui_keys(io);
  fonts_ = build_fonts(*io.Fonts, scale_);
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

ImGuiLifetime::~ImGuiLifetime() {
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void ImGuiLifetime::set_scale(float scale) {
  if (scale == scale_) return;
  scale_ = scale;
  ImGui::SetCurrentContext(context_);
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  atlas.Clear();
  fonts_ = build_fonts(atlas, scale_);
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

void ImGuiLifetime::begin_frame(int width, int height, double seconds_since_last) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  io.DisplayFramebufferScale = ImVec2(1, 1);
  // ImGui refuses a step of no length; more than a second after a sleep would skip what fades or blinks.
  io.DeltaTime = static_cast<float>(std::clamp(seconds_since_last, 1e-4, 1.0));
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void ImGuiLifetime::end_frame(ImVec4 ground) {
  ImGui::Render();
  glClearColor(ground.x, ground.y, ground.z, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void ImGuiLifetime::discard_frame() {
  ImGui::EndFrame();
}

}  // namespace headwise
