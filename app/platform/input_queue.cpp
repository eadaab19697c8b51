#include "app/platform/input_queue.h"

#include <imgui.h>

#include <bitset>
#include <cfloat>

#include "app/platform/imgui_lifetime.h"

namespace headwise {

// Passes events to ImGui and to the frame, one after the other, until one has to wait for the next frame.
class InputQueue::Feeder {
 public:
  Feeder(ImGuiIO& io, FrameInput& frame) : io_(io), frame_(frame) {}

  // False: this event, and all after it, waits.
  bool operator()(const MouseMoved& event) {
    // A click belongs to the position where it was made.
    if (buttons_.any() || wheeled_) return false;
    io_.MousePos = ImVec2(static_cast<float>(event.x), static_cast<float>(event.y));
    return true;
  }
  bool operator()(const MouseLeft&) {
    if (buttons_.any() || wheeled_) return false;
    io_.MousePos = ImVec2(-FLT_MAX, -FLT_MAX);
    return true;
  }
  bool operator()(const MouseButtonChanged& event) {
    if (event.button < 0 || event.button >= static_cast<int>(buttons_.size())) return true;
    const auto button = static_cast<std::size_t>(event.button);
    if (buttons_[button] || wheeled_) return false;
    buttons_.set(button);
    io_.MouseDown[event.button] = event.down;
    return true;
  }
  bool operator()(const MouseWheelTurned& event) {
    if (buttons_.any()) return false;
    wheeled_ = true;
    io_.MouseWheel += static_cast<float>(event.y);
    io_.MouseWheelH += static_cast<float>(event.x);
    return true;
  }
  bool operator()(const KeyChanged& event) {
    if (event.key < 0 || event.key >= static_cast<int>(keys_.size())) return true;
    const auto key = static_cast<std::size_t>(event.key);
    if (io_.KeysDown[event.key] == event.down) return true;
    // Chords keep their order: a modifier applies to everything that follows it, and does not affect text
    // typed before a key.
    if (keys_[key] || text_ || (pressed_ && (event.down || is_modifier_key(event.key)))) return false;
    keys_.set(key);
    pressed_ = pressed_ || (event.down && !is_modifier_key(event.key));
    io_.KeysDown[event.key] = event.down;
    return true;
  }
  bool operator()(const TextEntered& event) {
    text_ = true;
    io_.AddInputCharacter(static_cast<unsigned>(event.character));
    return true;
  }
  bool operator()(const WindowResized& event) {
    frame_.width = event.width;
    frame_.height = event.height;
    return true;
  }
  bool operator()(const FocusChanged& event) {
    // A release while another window has the keyboard is never reported.
    if (event.focused) return true;
    if (buttons_.any() || keys_.any()) return false;
    for (bool& key : io_.KeysDown) key = false;
    for (bool& button : io_.MouseDown) button = false;
    return true;
  }
  bool operator()(const ScaleChanged& event) {
    frame_.content_scale = event.scale;
    return true;
  }
  bool operator()(const FilesDropped& event) {
    frame_.dropped.insert(frame_.dropped.end(), event.paths.begin(), event.paths.end());
    return true;
  }
  bool operator()(const CloseRequested&) {
    frame_.close_requested = true;
    return true;
  }
  bool operator()(const RedrawRequested&) { return true; }

 private:
  ImGuiIO& io_;
  FrameInput& frame_;
  std::bitset<512> keys_;  // keys that have changed in this frame
  std::bitset<5> buttons_;
  bool pressed_ = false;  // a key that is not a modifier
  bool wheeled_ = false, text_ = false;
};

void InputQueue::feed_frame(FrameInput& frame) {
  frame.dropped.clear();
  frame.close_requested = false;
  ImGuiIO& io = ImGui::GetIO();
  Feeder feeder(io, frame);
  while (!events_.empty() && std::visit(feeder, events_.front())) events_.pop_front();
  set_imgui_modifiers(io);
}

}  // namespace headwise
