// A visit of the window by a script, offscreen: how long its frames take, and how soon an edit is seen.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// Something that the visitor did for a while.
struct VisitPart {
  std::string name;                // "motion into Scores"
  std::vector<double> seconds;     // of each frame, until the last of its pixels was there
  double processor_seconds = 0.0;  // of all of them, in all threads: says more than `seconds` on a busy machine
};

// One edit, followed to the screen.
struct EditLatency {
  std::string name;                // "type a letter"
  int frames = 0;                  // behind the one that was told of it: 0, that one shows it already
  double seconds = 0.0;            // from the event to the last pixel of the frame that shows it
  int refreshes = 0;               // of a display, 60 a second, in that time: a frame may take several
  double processor_seconds = 0.0;  // in that time, in all threads
  std::size_t computed = 0;        // tensors that were computed anew
};

struct VisitReport {
  std::string renderer;  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"
  int width = 0, height = 0;
  double first_frame_seconds = 0.0;
  std::vector<VisitPart> parts;
  std::vector<EditLatency> edits;
};

// Width and height in pixels, > 0. A part is about `frames_per_part` frames long, motion within its slowest and fastest
// speed. What the scenario or the size has no place for is left out. Frames follow each other at once, but while an edit is
// waited for at 60 a second, as a display takes them. Nothing of the person's settings is read or written. Throws
// Error(no_display) where EGL has no OpenGL, and where the scenario has no trace.
VisitReport visit_window(const Scenario& scenario, int width, int height, int frames_per_part = 60);

// Of a part's frames, in seconds; `share` in [0,1]: 0.5 the median, 0.99 what all but one of a hundred keep to. 0 without
// frames.
double frame_quantile(const VisitPart& part, double share);

}  // namespace headwise
