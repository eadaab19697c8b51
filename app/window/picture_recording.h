// Saves many pictures, one a frame, so that the window stays responsive and saving can be cancelled.
#pragma once

#include <string>

#include "app/session/worker.h"

namespace headwise {

struct WindowState;

class PictureRecording {
 public:
  virtual ~PictureRecording() = default;

  // Makes the next picture; after the last one everything is written. True while there is more to do. Throws
  // Error(output), and Error(cancelled) if it cannot go on.
  virtual bool advance(WindowState& window) = 0;
  virtual Waiting waiting() const = 0;
  // Of the file, or of the first of several.
  virtual const std::string& path() const = 0;
  // What the status line says while it lasts: "saving the slides"; and what a notice says at the end.
  virtual const char* doing() const = 0;
  virtual std::string done() const = 0;
};

}  // namespace headwise
