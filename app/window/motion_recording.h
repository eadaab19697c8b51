// Saves the motion into the current step to a file, one picture per frame, so that the window stays responsive and saving
// can be cancelled.
#pragma once

#include <string>

#include "app/session/computation.h"
#include "app/window/picture_recording.h"
#include "app/window/stage_pictures.h"
#include "core/picture/animated_png.h"

namespace headwise {

class MotionRecording : public PictureRecording {
 public:
  // At slide size and in the window's theme, from what the window shows now.
  MotionRecording(const WindowState& window, std::string path);

  // Error(cancelled) if the window shows something else by then. Needs a current GL context.
  bool advance(WindowState& window) override;
  Waiting waiting() const override;
  const std::string& path() const override { return path_; }
  const char* doing() const override;
  std::string done() const override;

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
