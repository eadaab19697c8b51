#include "app/platform/input_queue.h"

#include <doctest/doctest.h>
#include <imgui.h>

#include <string>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "app/platform/imgui_lifetime.h"

using namespace headwise;

namespace {

// ImGui without anything to draw on: what it makes of the input is all that is asked.
class Fixture {
 public:
  Fixture() : context_(ImGui::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = ImVec2(100, 100);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    map_imgui_keys(io);
  }
  ~Fixture() { ImGui::DestroyContext(context_); }

  // One frame; `inside` looks at ImGui's state.
  template <class Look>
  void frame(Look inside) {
    queue.feed_frame(input);
    ImGui::GetIO().DeltaTime = 1.0f / 60.0f;
    ImGui::NewFrame();
    inside();
    ImGui::EndFrame();
  }
  void frame() {
    frame([] {});
  }

  InputQueue queue;
  FrameInput input;

 private:
  ImGuiContext* context_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a tap that begins and ends between two frames is seen for one frame") {
  queue.push(KeyChanged{GLFW_KEY_RIGHT, true});
  queue.push(KeyChanged{GLFW_KEY_RIGHT, false});
  frame([] { CHECK(ImGui::IsKeyPressed(GLFW_KEY_RIGHT, false)); });
  CHECK(queue.pending());
  frame([] { CHECK(ImGui::IsKeyReleased(GLFW_KEY_RIGHT)); });
  CHECK(!queue.pending());
}

TEST_CASE_FIXTURE(Fixture, "every one of many taps of one key is seen, in order") {
  for (int i = 0; i < 10; ++i) {
    queue.push(KeyChanged{GLFW_KEY_LEFT, true});
    queue.push(KeyChanged{GLFW_KEY_LEFT, false});
  }
  int seen = 0;
  for (int i = 0; i < 30; ++i) frame([&] { seen += ImGui::IsKeyPressed(GLFW_KEY_LEFT, false); });
  CHECK(seen == 10);
}

TEST_CASE_FIXTURE(Fixture, "a double click between two frames is a double click at its place") {
  queue.push(MouseMoved{40, 30});
  for (const bool down : {true, false, true, false}) queue.push(MouseButtonChanged{0, down});
  queue.push(MouseMoved{90, 90});
  int clicks = 0, double_clicks = 0;
  for (int i = 0; i < 8; ++i)
    frame([&] {
      if (ImGui::IsMouseClicked(0)) {
        ++clicks;
        CHECK(ImGui::GetMousePos().x == 40.0f);
        CHECK(ImGui::GetMousePos().y == 30.0f);
      }
      double_clicks += ImGui::IsMouseDoubleClicked(0);
    });
  CHECK(clicks == 2);
  CHECK(double_clicks == 1);
  CHECK(ImGui::GetIO().MousePos.x == 90.0f);
}

TEST_CASE_FIXTURE(Fixture, "a chord holds its modifiers for its key, and for no other") {
  for (const auto& [key, down] : {std::pair(GLFW_KEY_RIGHT_CONTROL, true),
                                  {GLFW_KEY_Z, true},
                                  {GLFW_KEY_Z, false},
                                  {GLFW_KEY_RIGHT_CONTROL, false},
                                  {GLFW_KEY_Z, true},
                                  {GLFW_KEY_Z, false}})
    queue.push(KeyChanged{key, down});
  std::string seen;
  for (int i = 0; i < 8; ++i)
    frame([&] {
      if (ImGui::IsKeyPressed(GLFW_KEY_Z, false)) seen += ImGui::GetIO().KeyCtrl ? "ctrl+z " : "z ";
    });
  CHECK(seen == "ctrl+z z ");
}

TEST_CASE_FIXTURE(Fixture, "text and keys that edit it keep their order") {
  char text[16] = "";
  const auto edit = [&](int frames) {
    for (int i = 0; i < frames; ++i)
      frame([&] {
        ImGui::Begin("edit");
        if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
        ImGui::InputText("text", text, sizeof text);
        ImGui::End();
      });
  };
  const auto type = [this](char32_t character) { queue.push(TextEntered{character}); };
  const auto tap = [this](int key) {
    queue.push(KeyChanged{key, true});
    queue.push(KeyChanged{key, false});
  };
  edit(3);
  type('a');
  type('c');
  tap(GLFW_KEY_LEFT);
  type('b');
  tap(GLFW_KEY_END);
  type(U'é');
  tap(GLFW_KEY_BACKSPACE);
  type(U'Ω');
  edit(12);
  CHECK(std::string(text) == "abcΩ");
}

TEST_CASE_FIXTURE(Fixture, "the wheel turns where the mouse was when it was turned") {
  queue.push(MouseMoved{10, 10});
  queue.push(MouseWheelTurned{0, 1});
  queue.push(MouseWheelTurned{0, 2});
  queue.push(MouseMoved{50, 50});
  frame([] {
    CHECK(ImGui::GetIO().MouseWheel == 3.0f);
    CHECK(ImGui::GetMousePos().x == 10.0f);
  });
  frame([] {
    CHECK(ImGui::GetIO().MouseWheel == 0.0f);
    CHECK(ImGui::GetMousePos().x == 50.0f);
  });
}

TEST_CASE_FIXTURE(Fixture,
                  "what is held when the window loses the keyboard is let go, but not before it was seen") {
  queue.push(KeyChanged{GLFW_KEY_LEFT_SHIFT, true});
  queue.push(MouseButtonChanged{0, true});
  queue.push(FocusChanged{false});
  frame([] {
    CHECK(ImGui::GetIO().KeyShift);
    CHECK(ImGui::IsMouseClicked(0));
  });
  frame([] {
    CHECK(!ImGui::GetIO().KeyShift);
    CHECK(ImGui::IsMouseReleased(0));
  });
}

TEST_CASE_FIXTURE(Fixture, "the frame is told the last size, what was dropped, and of a wish to close once") {
  queue.push(WindowResized{200, 100});
  queue.push(WindowResized{300, 150});
  queue.push(ScaleChanged{2.0f});
  queue.push(FilesDropped{{"a.npy", "b"}});
  queue.push(FilesDropped{{"c"}});
  queue.push(CloseRequested{});
  frame();
  CHECK(input.width == 300);
  CHECK(input.height == 150);
  CHECK(input.content_scale == 2.0f);
  CHECK(input.dropped == std::vector<std::string>{"a.npy", "b", "c"});
  CHECK(input.close_requested);
  frame();
  CHECK(input.width == 300);
  CHECK(input.dropped.empty());
  CHECK(!input.close_requested);
}

TEST_CASE_FIXTURE(Fixture, "keys and buttons that ImGui has no place for are passed over") {
  for (const int number : {-1, 5, 8, 512, 100000}) queue.push(MouseButtonChanged{number, true});
  for (const int number : {-1, 512, 100000}) queue.push(KeyChanged{number, true});
  queue.push(MouseLeft{});
  queue.push(TextEntered{0x1F600});
  frame([] { CHECK(!ImGui::IsMousePosValid()); });
  CHECK(!queue.pending());
}
