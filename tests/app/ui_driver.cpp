#include "tests/app/ui_driver.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <doctest/doctest.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <imgui_internal.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "core/files/atomic_file.h"
#include "core/tensor/error.h"

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

UiDriver& UiDriver::rasterise(bool wanted) {
  if (wanted || std::getenv("HEADWISE_TEST_PICTURES") != nullptr) {
    frames_.forget_picture();
    glDisable(GL_RASTERIZER_DISCARD);
  } else {
    glEnable(GL_RASTERIZER_DISCARD);
  }
  return *this;
}

UiDriver& UiDriver::run_frames(int count, double seconds) {
  for (int i = 0; i < count; ++i) one_frame(seconds);
  return *this;
}

bool UiDriver::becomes_still(int limit) {
  for (int i = 0; i < limit; ++i) {
    one_frame();
    if (!result().animating && !frames_.pending()) return true;
  }
  return false;
}

UiDriver& UiDriver::run_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds() && std::chrono::steady_clock::now() < end) {
    one_frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(holds());
  return *this;
}

UiDriver& UiDriver::check_shown(const std::vector<std::string>& names) {
  for (const std::string& name : names) CHECK_MESSAGE(has(name), name);
  return *this;
}

UiDriver& UiDriver::check_absent(const std::vector<std::string>& names) {
  for (const std::string& name : names) CHECK_FALSE_MESSAGE(has(name), name);
  return *this;
}

UiDriver& UiDriver::push(InputEvent event) {
  frames_.push(std::move(event));
  return *this;
}

void UiDriver::settle() {
  while (frames_.pending()) one_frame();
  run_frames(2);
}

UiDriver& UiDriver::move_to(double x, double y) {
  push(MouseMoved{x, y});
  settle();
  return *this;
}

UiDriver& UiDriver::click(double x, double y, int button) {
  push(MouseMoved{x, y});
  push(MouseButtonChanged{button, true});
  push(MouseButtonChanged{button, false});
  settle();
  return *this;
}

UiDriver& UiDriver::double_click(double x, double y) {
  push(MouseMoved{x, y});
  for (int i = 0; i < 2; ++i) {
    push(MouseButtonChanged{0, true});
    push(MouseButtonChanged{0, false});
  }
  settle();
  return *this;
}

UiDriver& UiDriver::drag(double from_x, double from_y, double to_x, double to_y, int steps) {
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
  return *this;
}

UiDriver& UiDriver::wheel(double notches) {
  push(MouseWheelTurned{0.0, notches});
  settle();
  return *this;
}

UiDriver& UiDriver::key(std::string_view chord) {
  const std::vector<int> keys = keys_of(chord);
  for (const int key : keys) push(KeyChanged{key, true});
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) push(KeyChanged{*key, false});
  settle();
  return *this;
}

UiDriver& UiDriver::hold(std::string_view key_name) {
  push(KeyChanged{key_of(key_name), true});
  settle();
  return *this;
}

UiDriver& UiDriver::release_key(std::string_view key_name) {
  push(KeyChanged{key_of(key_name), false});
  settle();
  return *this;
}

UiDriver& UiDriver::type(std::string_view utf8) {
  while (!utf8.empty()) {
    unsigned character = 0;
    const int bytes = ImTextCharFromUtf8(&character, utf8.data(), utf8.data() + utf8.size());
    push(TextEntered{static_cast<char32_t>(character)});
    utf8.remove_prefix(static_cast<std::size_t>(bytes));
  }
  settle();
  return *this;
}

UiDriver& UiDriver::resize(int width, int height) {
  push(WindowResized{width, height});
  settle();
  return *this;
}

UiRect UiDriver::rect(std::string_view name) const {
  const auto found = probes_.find(name);
  if (found == probes_.end())
    FAIL("the last frame reported nothing called " << std::string(name) << ", only "
                                                   << fmt::format("{}", fmt::join(names(), ", ")));
  return found->second;
}

ImVec2 UiDriver::at(std::string_view name, float across, float down) const {
  const UiRect box = rect(name);
  return {box.min.x + across * (box.max.x - box.min.x), box.min.y + down * (box.max.y - box.min.y)};
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

UiDriver& UiDriver::move_to(std::string_view name) {
  return move_to(at(name));
}

UiDriver& UiDriver::click(std::string_view name, int button) {
  return click(at(name).x, at(name).y, button);
}

UiDriver& UiDriver::double_click(std::string_view name) {
  return double_click(at(name).x, at(name).y);
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

UiDriver& UiDriver::save_png(const std::string& name) {
  const char* folder = std::getenv("HEADWISE_TEST_PICTURES");
  if (folder == nullptr) return *this;
  const std::vector<std::uint8_t> png = to_png(pixels());
  write_file_atomically(std::string(folder) + "/" + name + ".png",
                        std::string_view(reinterpret_cast<const char*>(png.data()), png.size()));
  return *this;
}

}  // namespace headwise
