#include "app/window/window_visit.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "app/content/stage_views.h"
#include "app/platform/picture_surface.h"
#include "app/session/commands.h"
#include "app/widgets/ui_probe.h"
#include "app/window/main_window.h"
#include "core/attention/steps.h"

namespace headwise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int left_ctrl = 341;  // GLFW's number
constexpr double frame_seconds = 1.0 / 60.0;
// More than any motion takes, or any computation worth waiting for.
constexpr int frame_limit = 1200;
// The scenario changes in the frame that sees the event, or has no place for the edit.
constexpr int frames_of_a_change = 30;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Processor time used by this process, in all threads.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

struct Point {
  double x, y;
};

// A place in a rectangle; 0 and 1 are its edges.
Point inside(const UiRect& rect, double x, double y) {
  const auto between = [](float lo, float hi, double t) { return lo + t * static_cast<double>(hi - lo); };
  return {between(rect.min.x, rect.max.x, x), between(rect.min.y, rect.max.y, y)};
}

class Visit {
 public:
  Visit(const Scenario& scenario, int width, int height, int frames_per_part)
      : frames_(width, height, font_atlas(1.0f)), window_(scenario), count_(frames_per_part) {
    Settings& settings = window_.state().view.settings;
    settings.motion_speed = std::clamp(static_cast<float>(motion_seconds / (frames_per_part * frame_seconds)),
                                       Settings::slowest_motion, Settings::fastest_motion);
    report_.renderer = frames_.renderer();
    report_.width = width;
    report_.height = height;
    report_.first_frame_seconds = frame();
  }

  VisitReport run() {
    rest();
    walk_through_steps();
    hover();
    drag_gain();
    paint_mask();
    type();
    go_through_views();
    open_sheets();
    follow_edits();
    return std::move(report_);
  }

 private:
  const Session& session() const { return window_.state().document.session; }
  Step step() const { return window_.state().view.selection.step; }
  bool has(const std::string& name) const { return probes_.contains(name); }

  double frame() {
    const Clock::time_point begin = Clock::now();
    probes_.clear();
    set_ui_probes(&probes_);
    frames_.draw([this](const FrameInput& input, const Fonts& fonts,
                        float scale) { return window_.frame(input, fonts, scale); },
                 frame_seconds);
    set_ui_probes(nullptr);
    frames_.finish_drawing();
    return seconds_since(begin);
  }

  // Not counted in any part.
  void settle() {
    for (int i = 0; i < frame_limit && (frames_.pending() || frames_.result().animating); ++i) frame();
    window_.state().document.session.finish();
    for (int i = 0; i < 3; ++i) frame();
  }

  void begin(const std::string& name) { report_.parts.push_back({name, {}, 0.0}); }
  void measured_frame() {
    const double before = processor_seconds();
    report_.parts.back().seconds.push_back(frame());
    report_.parts.back().processor_seconds += processor_seconds() - before;
  }

  void tap(Key key, bool ctrl = false) {
    if (ctrl) frames_.push(KeyChanged{left_ctrl, true});
    frames_.push(KeyChanged{static_cast<int>(key), true});
    frames_.push(KeyChanged{static_cast<int>(key), false});
    if (ctrl) frames_.push(KeyChanged{left_ctrl, false});
  }
  void move(Point to) { frames_.push(MouseMoved{to.x, to.y}); }
  void press(bool down) { frames_.push(MouseButtonChanged{0, down}); }
  void click(const std::string& name) {
    if (!has(name)) return;
    move(inside(probes_.at(name), 0.5, 0.5));
    press(true);
    press(false);
    settle();
  }
  void go_to(Step to) {
    tap(Key::home);
    for (int i = 0; i < static_cast<int>(to); ++i) tap(Key::right);
    settle();
  }

  void rest() {
    settle();
    begin("at rest");
    for (int i = 0; i < count_; ++i) measured_frame();
  }

  void walk_through_steps() {
    const std::vector<Step> shown = shown_steps(session().trace().options);
    for (std::size_t i = 1; i < shown.size(); ++i) {
      begin(fmt::format("motion into {}", step_entries()[static_cast<std::size_t>(shown[i])].name));
      tap(Key::right);
      int frames = 0;
      do {
        measured_frame();
      } while (++frames < frame_limit && (frames_.pending() || frames_.result().animating));
    }
  }

  void hover() {
    for (const Step at : {Step::scores, Step::softmax, Step::output}) {
      go_to(at);
      if (!has("stage/result")) continue;
      const UiRect map = probes_.at("stage/result");
      begin(fmt::format("hover over {}", step_entries()[static_cast<std::size_t>(at)].name));
      for (int i = 0; i < count_; ++i) {
        move(inside(map, 0.05 + 0.9 * i / count_, 0.1 + 0.8 * (i % 7) / 6.0));
        measured_frame();
      }
    }
  }

  void drag_gain() {
    go_to(Step::output);
    if (!has("setup/gain")) return;
    const UiRect track = probes_.at("setup/gain");
    move(inside(track, 0.5, 0.5));
    press(true);
    frame();
    begin("drag a gain");
    for (int i = 0; i < count_; ++i) {
      move(inside(track, 0.5 - 0.45 * std::sin(i / 10.0), 0.5));
      measured_frame();
    }
    press(false);
    settle();
    undo_all();
  }

  void paint_mask() {
    go_to(Step::mask);
    if (!has("stage/brush/paint")) return;
    click("stage/brush/paint");
    if (!has("stage/result")) return;
    const UiRect map = probes_.at("stage/result");
    move(inside(map, 0.1, 0.3));
    press(true);
    frame();
    begin("paint a mask");
    for (int i = 0; i < count_; ++i) {
      move(inside(map, 0.1 + 0.8 * i / count_, 0.3 + 0.4 * (3 * i / count_) / 2.0));
      measured_frame();
    }
    press(false);
    settle();
    if (has("stage/brush/look")) click("stage/brush/look");
    undo_all();
  }

  void type() {
    go_to(Step::softmax);
    if (!has("setup/text")) return;
    click("setup/text");
    begin("type a text");
    for (const char letter : std::string_view(" and the street was wide")) {
      frames_.push(TextEntered{static_cast<char32_t>(letter)});
      measured_frame();
      measured_frame();
    }
    tap(Key::escape);
    settle();
    undo_all();
  }

  void go_through_views() {
    go_to(Step::softmax);
    for (int view = 0; view < stage_view_count; ++view) {
      window_.state().view.selection.view = static_cast<StageView>(view);
      settle();
      if (!has("panel/stage")) continue;  // the window is too small for it
      const UiRect stage = probes_.at("panel/stage");
      begin(fmt::format("view {}", stage_view_entry(static_cast<StageView>(view)).name));
      for (int i = 0; i < count_; ++i) {
        move(inside(stage, 0.1 + 0.8 * i / count_, 0.3 + 0.5 * (i % 7) / 6.0));
        measured_frame();
      }
    }
    window_.state().view.selection.view = StageView::one_head;
    settle();
  }

  void open_sheets() {
    WindowState& state = window_.state();
    for (const auto& [name, open] : {std::pair("sheet of keys", &state.dialogs.help.keys),
                                     std::pair("sheet of questions", &state.dialogs.comparison.open)}) {
      *open = true;
      settle();
      begin(name);
      for (int i = 0; i < count_; ++i) measured_frame();
      *open = false;
      settle();
    }
  }

  void undo_all() {
    while (window_.state().document.session.undo()) settle();
  }

  void follow_edits() {
    go_to(Step::output);
    follow("switch the causal mask", [&] { frames_.push(KeyChanged{'C', true}); });
    frames_.push(KeyChanged{'C', false});
    follow("undo", [&] {
      frames_.push(KeyChanged{left_ctrl, true});
      frames_.push(KeyChanged{'Z', true});
    });
    frames_.push(KeyChanged{'Z', false});
    frames_.push(KeyChanged{left_ctrl, false});
    follow("mute a head", [&] { frames_.push(KeyChanged{'M', true}); });
    frames_.push(KeyChanged{'M', false});
    undo_all();
    if (has("setup/gain")) {
      const UiRect track = probes_.at("setup/gain");
      move(inside(track, 0.5, 0.5));
      press(true);
      settle();
      follow("drag a gain", [&] { move(inside(track, 0.3, 0.5)); });
      press(false);
      settle();
      undo_all();
    }
    follow("set a number of the input", [&] { set_number("query", {0, 0, 0}); });
    undo_all();
    follow("set a parameter", [&] { set_number("out_proj.weight", {0, 0}); });
    undo_all();
    follow("set a parameter of q", [&] { set_number("in_proj_weight", {0, 0}); });
    undo_all();
    go_to(Step::scale);
    if (has("setup/scale")) {
      click("setup/scale");
      follow("type a scale", [&] { frames_.push(TextEntered{U'1'}); });
      tap(Key::escape);
      settle();
      undo_all();
    }
    if (has("setup/text")) {
      click("setup/text");
      tap(Key::end);
      settle();
      follow("type a letter", [&] { frames_.push(TextEntered{U's'}); });
      tap(Key::escape);
      settle();
      undo_all();
    }
  }

  // As the inspector's field does at the end of a frame.
  void set_number(const std::string& tensor, const std::vector<Index>& index) {
    Scenario scenario = session().scenario();
    scenario.edits.push_back({tensor, index, 0.75});
    window_.state().document.session.edit(scenario, "set a number");
  }

  // The last event that `edit` pushes changes the scenario.
  template <class Edit>
  void follow(const std::string& name, Edit edit) {
    settle();
    const Scenario before = session().scenario();
    edit();
    Clock::time_point last_report = Clock::now();
    double used = processor_seconds();
    while (frames_.pending()) {
      last_report = Clock::now();
      used = processor_seconds();
      frame();
    }
    Clock::time_point last = last_report;
    int frames = 0;
    while (session().scenario() == before || !(window_.shown()->scenario == session().scenario())) {
      const int most = session().scenario() == before ? frames_of_a_change : frame_limit;
      if (frames >= most || !session().error().empty()) return settle();
      ++frames;
      std::this_thread::sleep_until(
          last + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(frame_seconds)));
      last = Clock::now();
      frame();
    }
    const double seconds = seconds_since(last_report);
    report_.edits.push_back({name, frames, seconds, static_cast<int>(std::ceil(seconds / frame_seconds)),
                             processor_seconds() - used, session().trace().computed.size()});
    settle();
  }

  OffscreenFrames frames_;
  UiProbes probes_;
  MainWindow window_;
  VisitReport report_;
  int count_;
};

}  // namespace

VisitReport visit_window(const Scenario& scenario, int width, int height, int frames_per_part) {
  return Visit(scenario, width, height, frames_per_part).run();
}

double frame_quantile(const VisitPart& part, double share) {
  if (part.seconds.empty()) return 0.0;
  std::vector<double> sorted = part.seconds;
  std::ranges::sort(sorted);
  const double place = share * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::ceil(place))];
}

}  // namespace headwise
