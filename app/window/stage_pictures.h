// The stage as it goes on a slide: alone, without controls, with its caption below it,
// in type sized to the picture.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/platform/heatmap_renderer.h"
#include "app/platform/picture_surface.h"
#include "app/stage/stage_panel.h"
#include "core/export/image.h"
#include "core/export/pdf_document.h"

namespace headwise {

struct WindowState;

class StagePictures {
 public:
  static constexpr int usual_width = 1920, usual_height = 1080;
  static constexpr int least_side = 160, largest_side = 8192;

  // What the window shows, or what a hall would see of it on a full screen: the map that the step makes,
  // with larger labels.
  enum class Look { window, presentation };

  // Pixels, each in [least_side, largest_side]. Needs a current GL context, here and in every call.
  StagePictures(int width, int height, Theme theme, Look look = Look::window);

  // Of what the window shows now; waits for what is still being computed for it.
  Image image(WindowState& window);
  // The same as an SVG or a PDF, with text as text; and as the next page of a PDF.
  std::string svg(WindowState& window);
  std::string pdf(WindowState& window);
  void add_page(WindowState& window, PdfDocument& document);
  // The motion into the current step, as an animated PNG; a single picture where there is none (no_motion).
  // It is played endlessly, and begins where it ends:
  // a program that shows only the first picture shows the finished step.
  std::vector<std::uint8_t> motion(WindowState& window);
  // The same, picture by picture, into one animation: `which` from 0 to motion_count() − 1.
  static constexpr int most_motion_pictures = 33;
  static int motion_count(const WindowState& window);
  void add_motion_frame(WindowState& window, int which, AnimatedPng& animation);

 private:
  void draw(WindowState& window, const Fonts& fonts, float scale);
  // On the canvas that is made for the size of the picture.
  using BeginCanvas = std::function<VectorCanvas&(double width, double height)>;
  void draw_vectors(WindowState& window, const BeginCanvas& begin);
  Theme theme_;
  Look look_;
  PictureSurface surface_;
  HeatmapRenderer heatmaps_;
  StageState stage_;
};

// Why there is no motion into this step, as a sentence; empty if there is one.
std::string no_motion(const Selection& selection, const Trace& trace);

}  // namespace headwise
