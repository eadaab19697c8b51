// Drives a frame function as a person would, without a display: an offscreen context, ImGui, and the window's
// own input queue. Things are found by the names that panels report (app/widgets/ui_probe.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/driver.h"
#include "app/platform/picture_surface.h"
#include "app/widgets/ui_probe.h"
#include "core/export/picture.h"
#include "tests/skipped.h"

namespace headwise {

class UiDriver {
 public:
  // Null, and says SKIPPED aloud, where there is no EGL.
  static std::unique_ptr<UiDriver> start(int width = 1600, int height = 1000, float scale = 1.0f);
  ~UiDriver();
  UiDriver(const UiDriver&) = delete;
  UiDriver& operator=(const UiDriver&) = delete;

  // What is drawn from now on. GL objects may be made before this, the context is current.
  void set_frame(FrameFunction frame) { frame_ = std::move(frame); }
  const Fonts& fonts() const { return frames_.fonts(); }

  // Each of these draws until all its events have been seen, and two frames more. They return the driver, so
  // that what a person does one after the other is one line.
  UiDriver& move_to(double x, double y);
  UiDriver& click(double x, double y, int button = 0);
  UiDriver& double_click(double x, double y);
  UiDriver& drag(double from_x, double from_y, double to_x, double to_y, int steps = 8);
  UiDriver& move_to(ImVec2 at) { return move_to(at.x, at.y); }
  UiDriver& click(ImVec2 at) { return click(at.x, at.y); }
  UiDriver& drag(ImVec2 from, ImVec2 to, int steps = 8) { return drag(from.x, from.y, to.x, to.y, steps); }
  UiDriver& wheel(double notches);
  // "A", "7", "Left", "Space", "F1", "Escape", "PageDown" …; chords as "Ctrl+Z", "Ctrl+Shift+P". Pressed and
  // let go.
  UiDriver& key(std::string_view chord);
  UiDriver& hold(std::string_view key_name);
  UiDriver& release_key(std::string_view key_name);
  UiDriver& type(std::string_view utf8);
  UiDriver& resize(int width, int height);
  UiDriver& push(InputEvent event);

  // By name: at the middle of the rectangle. A name that the last frame did not report fails the test, and
  // says which names there are.
  UiRect rect(std::string_view name) const;
  // A place within it, by shares of its width and height; and the one at its right end, where lists have
  // their arrow.
  ImVec2 at(std::string_view name, float across = 0.5f, float down = 0.5f) const;
  ImVec2 right_end(std::string_view name) const { return {rect(name).max.x - 8, at(name).y}; }
  bool has(std::string_view name) const { return probes_.contains(name); }
  std::vector<std::string> names() const;  // of what can be pointed at: without the words, "says/…"
  // The words that the last frame said and that begin so, without the beginning.
  std::vector<std::string> said(std::string_view beginning) const;
  UiDriver& move_to(std::string_view name);
  UiDriver& click(std::string_view name, int button = 0);
  UiDriver& double_click(std::string_view name);

  // `seconds`: what each frame is told to have passed since the one before.
  UiDriver& run_frames(int count, double seconds = 1.0 / 60.0);
  // Frames until the frame function no longer says that it is animating, at most `limit`; false where it
  // still does.
  bool becomes_still(int limit = 600);
  UiDriver& run_until_still() {
    becomes_still();
    return *this;
  }
  // Frames, a millisecond apart, until another thread has made it so; it fails where that takes a minute.
  UiDriver& run_until(const std::function<bool()>& holds);
  // Checks that the last frame reported each of these, or none of them.
  UiDriver& check_shown(const std::vector<std::string>& names);
  UiDriver& check_absent(const std::vector<std::string>& names);
  // False: OpenGL is told everything, but fills no pixel, unless HEADWISE_TEST_PICTURES asks for them.
  // True to begin with.
  UiDriver& rasterise(bool wanted);
  int width() const { return frames_.width(); }
  int height() const { return frames_.height(); }
  // How many frames were drawn so far (app/platform/picture_surface.h).
  long pictures() const { return frames_.pictures(); }
  void forget_picture() { frames_.forget_picture(); }
  const FrameResult& result() const { return frames_.result(); }

  // Of the last frame.
  Image pixels() const { return frames_.pixels(); }
  Rgba8 pixel(int x, int y) const;
  // Writes into the folder named by HEADWISE_TEST_PICTURES, under this name;
  // does nothing where that is not set.
  UiDriver& save_png(const std::string& name);

  // Errors and warnings that the driver of the graphics card reported; checked to be none when this ends.
  const std::vector<std::string>& gl_messages() const { return *gl_messages_; }

 private:
  UiDriver(int width, int height, float scale);
  void one_frame(double seconds = 1.0 / 60.0);
  void settle();

  OffscreenFrames frames_;
  std::unique_ptr<std::vector<std::string>> gl_messages_;
  gl::DebugOutput debug_output_;
  FrameFunction frame_;
  UiProbes probes_;
};

}  // namespace headwise
