// The window's frame function: menu, steps, setup, stage, inspector and graph, put together.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/platform/frame_function.h"
#include "app/platform/heatmap_renderer.h"
#include "app/stage/stage_navigation.h"
#include "app/stage/stage_panel.h"
#include "app/window/filmstrip.h"
#include "app/window/window_layout.h"
#include "app/window/window_state.h"

namespace headwise {

class MainWindow {
 public:
  // Needs a current GL context, here and in every frame. Throws Error if `first` has no trace. `wake` is
  // called from another thread when a background computation is done and a frame is needed.
  explicit MainWindow(const Scenario& first, const std::function<void()>& wake = {}) : state_(first, wake) {}

  // One frame, between ImGui::NewFrame and ImGui::Render.
  FrameResult frame(const FrameInput& input, const Fonts& fonts, float scale);

  // What the panels of the last frame showed; null before the first.
  const ComputationPtr& shown() const { return shown_; }

  const WindowState& state() const { return state_; }
  WindowState& state() { return state_; }

 private:
  // Panels by number: the order in which Tab goes through them.
  enum Part : int {
    steps_part = 1,
    setup_part,
    stage_part,
    inspector_part,
    graph_part,
    caption_part,
    filmstrip_part,
    menu_part,
    opening_part,
    training_part,
    notes_part
  };
  // State at the start of a frame, compared with that at its end.
  struct Before {
    TracePtr trace;
    Selection selection;
    Settings settings;
    ImGuiID focused;
  };

  bool menu_open() const;  // or any other ImGui popup list
  // Makes the menu bar, whose height is its text plus this padding, exactly as high as the layout specifies.
  static ImVec2 menu_padding(const WindowLayout& layout, const Fonts& fonts, float scale);
  void take_keys();
  void take_results();  // what the background threads have finished
  // On the full screen the steps are there while the mouse moves, and a moment longer.
  void show_presentation_steps(double seconds, double& wake_after);
  void play(double seconds, double& wake_after);
  void take_dropped(const FrameInput& input);
  // Keys, dropped files, playback: everything that happens before drawing.
  // Returns the seconds until the next frame.
  double take_input(const FrameInput& input);
  // Begins the ImGui window that the panels lie on.
  void begin_ground(const WindowLayout& layout, const Fonts& fonts, float scale);
  // Nothing but the dark, until a key or the mouse is pressed; `ends`: not in the frame of the key that
  // darkened it.
  void draw_blank(bool ends);
  void draw_opening(const Fonts& fonts, float scale, double& wake_after);
  void draw_panels(const WindowLayout& layout, const Fonts& fonts, float scale, double& wake_after);
  void draw_overlays(const Fonts& fonts, float scale, double& wake_after);
  // The focus ring and the notices, on top of everything else.
  void draw_window_notices(const WidgetContext& widgets, const WindowLayout& layout, double seconds);
  // Handles the consequences of what this frame requested.
  void take_in_changes(const Before& before);
  FrameResult result_of(const FrameInput& input, const Before& before, const Palette& palette,
                        double wake_after);

  WindowState state_;
  ComputationPtr shown_;
  ComputationPtr reported_;                 // the one whose text was reported as too long, if any
  std::optional<std::size_t> walked_page_;  // of the last frame
  std::string logged_;                      // the persistent error last written to the log
  bool moving_ = false;                     // a motion went on in this frame
  bool opening_ = false;                    // the opening scene moved in this frame
  HeatmapRenderer heatmaps_;
  StageState stage_;
  GraphState graph_;
  FilmstripState filmstrip_;
  std::vector<GroundRect> grounds_;  // of the panels of this frame
};

}  // namespace headwise
