// Saves the motion into the current step to a file, one picture per frame, so that the window stays responsive and saving
// can be cancelled.
#pragma once

#include <string>

#include "app/session/computation.h"
#include "app/session/waiting.h"
#include "app/window/stage_pictures.h"
#include "core/picture/animated_png.h"

namespace headwise {

class MotionRecording {
 public:
  // At slide size and in the window's theme, from what the window shows now.
  MotionRecording(const WindowState& window, std::string path);

  // Draws the next picture; after the last one the whole file is written. True while there is more to do. Throws
  // Error(output), and Error(cancelled) if the window shows something else by then. Needs a current GL context.
  bool advance(WindowState& window);

  Waiting waiting() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  StagePictures pictures_;
  AnimatedPng animation_;
  Selection selection_;
  ComputationPtr computation_;
  int made_ = 0;
  WaitingClock clock_;
};

}  // namespace headwise
