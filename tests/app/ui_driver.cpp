#include "tests/app/ui_driver.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <doctest/doctest.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <imgui_internal.h>

#include <cstdlib>
#include <map>

#include "core/files/atomic_file.h"
#include "core/tensor/error.h"
#include "tests/skipped.h"

namespace headwise {

namespace {

const std::map<std::string, int, std::less<>> key_names = {
    {"Left", GLFW_KEY_LEFT},
    {"Right", GLFW_KEY_RIGHT},
    {"Up", GLFW_KEY_UP},
    {"Down", GLFW_KEY_DOWN},
    {"PageUp", GLFW_KEY_PAGE_UP},
    {"PageDown", GLFW_KEY_PAGE_DOWN},
    {"Home", GLFW_KEY_HOME},
    {"End", GLFW_KEY_END},
    {"Insert", GLFW_KEY_INSERT},
    {"Delete", GLFW_KEY_DELETE},
    {"Backspace", GLFW_KEY_BACKSPACE},
    {"Space", GLFW_KEY_SPACE},
    {"Enter", GLFW_KEY_ENTER},
    {"Escape", GLFW_KEY_ESCAPE},
    {"Tab", GLFW_KEY_TAB},
    {"Ctrl", GLFW_KEY_LEFT_CONTROL},
    {"Shift", GLFW_KEY_LEFT_SHIFT},
    {"Alt", GLFW_KEY_LEFT_ALT},
    {"KeypadAdd", GLFW_KEY_KP_ADD},
    {"KeypadSubtract", GLFW_KEY_KP_SUBTRACT},
    {"KeypadEnter", GLFW_KEY_KP_ENTER},
};

int key_of(std::string_view name) {
  if (const auto found = key_names.find(name); found != key_names.end()) return found->second;
  // GLFW numbers printable keys by their capital letter.
  if (name.size() == 1 && name[0] > ' ' && name[0] <= '`') return name[0];
  if (name.size() >= 2 && name[0] == 'F')
    return GLFW_KEY_F1 + std::atoi(std::string(name.substr(1)).c_str()) - 1;
  FAIL("no key is called " << std::string(name));
  return GLFW_KEY_UNKNOWN;
}

std::vector<int> keys_of(std::string_view chord) {
  std::vector<int> keys;
  for (std::size_t plus = chord.find('+'); plus != std::string_view::npos; plus = chord.find('+')) {
    keys.push_back(key_of(chord.substr(0, plus)));
    chord.remove_prefix(plus + 1);
  }
  keys.push_back(key_of(chord));
  return keys;
}

}  // namespace

std::unique_ptr<UiDriver> UiDriver::start(int width, int height, float scale) {
  try {
    return std::unique_ptr<UiDriver>(new UiDriver(width, height, scale));
  } catch (const Error& error) {
    if (error.status() != ExitStatus::no_display) throw;
    test::say_skipped(error.what());
    return nullptr;
  }
}

UiDriver::UiDriver(int width, int height, float scale)
    : frames_(width, height, font_atlas(scale), OffscreenDebug::on),
      gl_messages_(std::make_unique<std::vector<std::string>>()),
      debug_output_([messages = gl_messages_.get()](const gl::DebugMessage& message) {
        messages->push_back(message.text);
      }) {}

UiDriver::~UiDriver() {
  set_ui_probes(nullptr);
  // What the frame function holds may be GL objects of this context.
  frame_ = nullptr;
  for (const std::string& message : *gl_messages_) CHECK_MESSAGE(message.empty(), "OpenGL says: " << message);
}

void UiDriver::one_frame(double seconds) {
  probes_.clear();
  set_ui_probes(&probes_);
  frames_.draw(frame_, seconds);
  set_ui_probes(nullptr);
}

void UiDriver::rasterise(bool wanted) {
  if (wanted || std::getenv("HEADWISE_TEST_PICTURES") != nullptr) {
    frames_.forget_picture();
    glDisable(GL_RASTERIZER_DISCARD);
  } else {
    glEnable(GL_RASTERIZER_DISCARD);
  }
}

void UiDriver::run_frames(int count, double seconds) {
  for (int i = 0; i < count; ++i) one_frame(seconds);
}

bool UiDriver::run_until_still(int limit) {
  for (int i = 0; i < limit; ++i) {
    one_frame();
    if (!result().animating && !frames_.pending()) return true;
  }
  return false;
}

void UiDriver::push(InputEvent event) {
  frames_.push(std::move(event));
}

void UiDriver::settle() {
  while (frames_.pending()) one_frame();
  run_frames(2);
}

void UiDriver::move_to(double x, double y) {
  push(MouseMoved{x, y});
  settle();
}

void UiDriver::click(double x, double y, int button) {
  push(MouseMoved{x, y});
  push(MouseButtonChanged{button, true});
  push(MouseButtonChanged{button, false});
  settle();
}

void UiDriver::double_click(double x, double y) {
  push(MouseMoved{x, y});
  for (int i = 0; i < 2; ++i) {
    push(MouseButtonChanged{0, true});
    push(MouseButtonChanged{0, false});
  }
  settle();
}

void UiDriver::drag(double from_x, double from_y, double to_x, double to_y, int steps) {
  push(MouseMoved{from_x, from_y});
  push(MouseButtonChanged{0, true});
  one_frame();
  for (int i = 1; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    push(MouseMoved{from_x + t * (to_x - from_x), from_y + t * (to_y - from_y)});
    one_frame();
  }
  push(MouseButtonChanged{0, false});
  settle();
}

void UiDriver::wheel(double notches) {
  push(MouseWheelTurned{0.0, notches});
  settle();
}

void UiDriver::key(std::string_view chord) {
  const std::vector<int> keys = keys_of(chord);
  for (const int key : keys) push(KeyChanged{key, true});
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) push(KeyChanged{*key, false});
  settle();
}

void UiDriver::hold(std::string_view key_name) {
  push(KeyChanged{key_of(key_name), true});
  settle();
}

void UiDriver::release_key(std::string_view key_name) {
  push(KeyChanged{key_of(key_name), false});
  settle();
}

void UiDriver::type(std::string_view utf8) {
  while (!utf8.empty()) {
    unsigned character = 0;
    const int bytes = ImTextCharFromUtf8(&character, utf8.data(), utf8.data() + utf8.size());
    push(TextEntered{static_cast<char32_t>(character)});
    utf8.remove_prefix(static_cast<std::size_t>(bytes));
  }
  settle();
}

void UiDriver::resize(int width, int height) {
  push(WindowResized{width, height});
  settle();
}

UiRect UiDriver::rect(std::string_view name) const {
  const auto found = probes_.find(name);
  if (found == probes_.end())
    FAIL("the last frame reported nothing called " << std::string(name) << ", only "
                                                   << fmt::format("{}", fmt::join(names(), ", ")));
  return found->second;
}

std::vector<std::string> UiDriver::names() const {
  std::vector<std::string> names;
  for (const auto& [name, where] : probes_)
    if (!name.starts_with("says/")) names.push_back(name);
  return names;
}

std::vector<std::string> UiDriver::said(std::string_view beginning) const {
  const std::string words = "says/" + std::string(beginning);
  std::vector<std::string> said;
  for (const auto& [name, where] : probes_)
    if (name.starts_with(words)) said.push_back(name.substr(words.size()));
  return said;
}

void UiDriver::move_to(std::string_view name) {
  const UiRect at = rect(name);
  move_to((at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2);
}

void UiDriver::click(std::string_view name, int button) {
  const UiRect at = rect(name);
  click((at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2, button);
}

void UiDriver::double_click(std::string_view name) {
  const UiRect at = rect(name);
  double_click((at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2);
}

Rgba8 UiDriver::pixel(int x, int y) const {
  const Image image = pixels();
  REQUIRE(x >= 0);
  REQUIRE(x < image.width);
  REQUIRE(y >= 0);
  REQUIRE(y < image.height);
  const std::uint8_t* at =
      &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                       static_cast<std::size_t>(x))];
  return {at[0], at[1], at[2], at[3]};
}

void UiDriver::save_png(const std::string& name) const {
  const char* folder = std::getenv("HEADWISE_TEST_PICTURES");
  if (folder == nullptr) return;
  const std::vector<std::uint8_t> png = to_png(pixels());
  write_file_atomically(std::string(folder) + "/" + name + ".png",
                        std::string_view(reinterpret_cast<const char*>(png.data()), png.size()));
}

}  // namespace headwise
