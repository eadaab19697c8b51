// The motion into the step that is shown, on its way into a file: a picture a frame, so that the window stays alive and it can
// be given up.
#pragma once

#include <string>

#include "app/session/computation.h"
#include "app/session/waiting.h"
#include "app/window/stage_pictures.h"
#include "core/picture/animated_png.h"

namespace headwise {

class MotionRecording {
 public:
  // At slide size and in the window's theme, of what the window shows now.
  MotionRecording(const WindowState& window, std::string path);

  // Makes the next picture; behind the last one the file is written, whole. True while there is more to do. Throws
  // Error(output), and Error(cancelled) where the window shows something else by now. Needs a current GL context.
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
