// A scripted session with the window, offscreen: how long its frames take,
// and how soon an edit becomes visible.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// One activity that the script performed for a while.
struct VisitPart {
  std::string name;                // "motion into Scores"
  std::vector<double> seconds;     // of each frame, until its last pixel was drawn
  double processor_seconds = 0.0;  // of all of them, in all threads: better than `seconds` on a busy machine
};

// One edit, followed to the screen.
struct EditLatency {
  std::string name;                // "type a letter"
  int frames = 0;                  // frames after the one that received it: 0, that one shows it already
  double seconds = 0.0;            // from the event to the last pixel of the frame that shows it
  int refreshes = 0;               // of a display, 60 a second, in that time: a frame may take several
  double processor_seconds = 0.0;  // in that time, in all threads
  std::size_t computed = 0;        // tensors that were recomputed
};

struct VisitReport {
  std::string renderer;  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"
  int width = 0, height = 0;
  double first_frame_seconds = 0.0;
  std::vector<VisitPart> parts;
  std::vector<EditLatency> edits;
};

// Width and height in pixels, > 0. A part is about `frames_per_part` frames long, with motion speed within
// its limits. What the scenario or the size does not support is left out. Frames follow each other
// immediately, except at 60 a second, as on a display, while waiting for an edit. The user's settings are
// neither read nor written. Throws Error(no_display) if EGL has no OpenGL,
// and Error if the scenario has no trace.
VisitReport visit_window(const Scenario& scenario, int width, int height, int frames_per_part = 60);

// Quantile of a part's frame times, in seconds; `share` in [0,1]: 0.5 is the median, 0.99 is exceeded by one
// frame in a hundred. 0 without frames.
double frame_quantile(const VisitPart& part, double share);

}  // namespace headwise
