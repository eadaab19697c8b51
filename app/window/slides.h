// Pictures that are saved one a frame: the motion into a step, and the pages of a playlist as slides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/worker.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_state.h"
#include "core/lessons/playlist.h"

namespace headwise {

inline std::string_view file_bytes(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Saves many pictures, one a frame, so that the window stays responsive and saving can be cancelled.
class PictureRecording {
 public:
  // `doing`: what the status line says while it lasts, "saving the slides". `path`: of the file, or of the
  // first of several.
  PictureRecording(const char* doing, std::string path, std::size_t count);
  virtual ~PictureRecording() = default;

  // Makes the next picture; after the last one everything is written. True while there is more to do. Throws
  // Error(output), and Error(cancelled) if it cannot go on.
  virtual bool advance(WindowState& window) = 0;
  // What a notice says at the end.
  virtual std::string done() const = 0;
  Waiting waiting() const;
  const std::string& path() const { return path_; }
  const char* doing() const { return doing_; }

 protected:
  std::string path_;
  std::size_t made_ = 0, count_;  // pictures

 private:
  const char* doing_;
  WaitingClock clock_;
};

// The motion into the current step, at slide size and in the window's theme, from what the window shows now.
// Cancelled if the window shows something else by then. Needs a current GL context.
class MotionRecording : public PictureRecording {
 public:
  MotionRecording(const WindowState& window, std::string path);

  bool advance(WindowState& window) override;
  std::string done() const override;

 private:
  StagePictures pictures_;
  AnimatedPng animation_;
  Selection selection_;
  ComputationPtr computation_;
};

// Sets a window's state to this page, with everything it shows computed. Returns why the page cannot be shown
// as it specifies; empty if it can. `asking`: a page that asks stays without its answer, as it first appears;
// else the answer stands next to its question.
std::string show_slide(WindowState& window, const Playlist& playlist, std::size_t page, bool asking);

// A page's slide, or that of its question.
struct SlideName {
  std::size_t page = 0;
  bool asks = false;
  std::string name;  // "03-ask": sorts before the page with its answer
};

// All slides of a playlist in their order; numbers have at least two digits.
std::vector<SlideName> slide_names(const Playlist& playlist);

// Saves all of them at the usual size: `path` "slides.png" makes slides-01.png, slides-03-ask.png …,
// "slides.pdf" makes one file with a page for each. They are written when the last one has been drawn.
class SlideRecording : public PictureRecording {
 public:
  // Throws Error(usage) where one of the files exists already. playlist.pages must not be empty.
  SlideRecording(Playlist playlist, const std::string& path, Theme theme);

  bool advance(WindowState& window) override;
  std::string done() const override;

 private:
  Playlist playlist_;
  std::vector<SlideName> names_;
  std::vector<std::string> files_;
  WindowState window_;  // the user's own stays as it is
  StagePictures pictures_;
  bool as_pdf_;
  std::vector<std::vector<std::uint8_t>> slides_;  // each as PNG
  PdfDocument document_;
};

}  // namespace headwise
