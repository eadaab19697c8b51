#include "app/platform/imgui_lifetime.h"

#include <algorithm>
#include <cstring>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

namespace headwise {
namespace {

constexpr std::pair<ImGuiKey_, int> key_map[] = {
    {ImGuiKey_Tab, GLFW_KEY_TAB},
    {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
    {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
    {ImGuiKey_UpArrow, GLFW_KEY_UP},
    {ImGuiKey_DownArrow, GLFW_KEY_DOWN},
    {ImGuiKey_PageUp, GLFW_KEY_PAGE_UP},
    {ImGuiKey_PageDown, GLFW_KEY_PAGE_DOWN},
    {ImGuiKey_Home, GLFW_KEY_HOME},
    {ImGuiKey_End, GLFW_KEY_END},
    {ImGuiKey_Insert, GLFW_KEY_INSERT},
    {ImGuiKey_Delete, GLFW_KEY_DELETE},
    {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE},
    {ImGuiKey_Space, GLFW_KEY_SPACE},
    {ImGuiKey_Enter, GLFW_KEY_ENTER},
    {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
    {ImGuiKey_KeyPadEnter, GLFW_KEY_KP_ENTER},
    {ImGuiKey_A, GLFW_KEY_A},
    {ImGuiKey_C, GLFW_KEY_C},
    {ImGuiKey_V, GLFW_KEY_V},
    {ImGuiKey_X, GLFW_KEY_X},
    {ImGuiKey_Y, GLFW_KEY_Y},
    {ImGuiKey_Z, GLFW_KEY_Z},
};

}  // namespace

void map_imgui_keys(ImGuiIO& io) {
  for (const auto& [key, glfw_key] : key_map) io.KeyMap[key] = glfw_key;
}

bool is_modifier_key(int glfw_key) {
  return glfw_key >= GLFW_KEY_LEFT_SHIFT && glfw_key <= GLFW_KEY_RIGHT_SUPER;
}

void set_imgui_modifiers(ImGuiIO& io) {
  const auto either = [&io](int left, int right) { return io.KeysDown[left] || io.KeysDown[right]; };
  io.KeyCtrl = either(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = either(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  io.KeyAlt = either(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
  io.KeySuper = either(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
  // In a menu Enter chooses, like Space; ImGui by itself would make it edit. Set in every frame, so that the
  // press which opens a menu is already old when the menu appears.
  const bool chooses = io.KeysDown[GLFW_KEY_SPACE] || either(GLFW_KEY_ENTER, GLFW_KEY_KP_ENTER);
  io.NavInputs[ImGuiNavInput_Activate] = chooses ? 1.0f : 0.0f;
}

namespace {

// Structures have padding with meaningless bytes: their members are added one by one.
class Bytes {
 public:
  explicit Bytes(std::vector<char>& bytes) : bytes_(bytes) { bytes_.clear(); }

  template <class T>
  void add(const T* values, int count) {
    if (count == 0) return;
    const std::size_t at = bytes_.size(), more = sizeof(T) * static_cast<std::size_t>(count);
    bytes_.resize(at + more);
    std::memcpy(bytes_.data() + at, values, more);
  }
  template <class... T>
  void add_all(const T&... values) {
    (add(&values, 1), ...);
  }

 private:
  std::vector<char>& bytes_;
};

}  // namespace

bool DrawnFrame::as_before(const ImDrawData& shapes, ImVec4 ground, std::span<const GroundRect> grounds,
                           bool callbacks_as_before) {
  Bytes bytes(now_);
  bytes.add_all(shapes.DisplayPos, shapes.DisplaySize, shapes.FramebufferScale, ground, grounds.size());
  for (const GroundRect& rect : grounds) bytes.add_all(rect.x, rect.y, rect.width, rect.height, rect.color);
  bool calls = false;
  for (int i = 0; i < shapes.CmdListsCount; ++i) {
    const ImDrawList& list = *shapes.CmdLists[i];
    bytes.add_all(list.CmdBuffer.Size, list.IdxBuffer.Size, list.VtxBuffer.Size);
    for (const ImDrawCmd& command : list.CmdBuffer) {
      bytes.add_all(command.ClipRect, command.TextureId, command.VtxOffset, command.IdxOffset,
                    command.ElemCount, command.UserCallback);
      calls = calls || (command.UserCallback && command.UserCallback != ImDrawCallback_ResetRenderState);
    }
    bytes.add(list.IdxBuffer.Data, list.IdxBuffer.Size);
    bytes.add(list.VtxBuffer.Data, list.VtxBuffer.Size);
  }
  const bool same = now_ == before_;
  now_.swap(before_);
  return same && (callbacks_as_before || !calls);
}

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
