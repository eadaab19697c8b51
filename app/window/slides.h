// The pages of a playlist as slides.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/window/picture_recording.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_state.h"
#include "core/playlist/playlist.h"

namespace headwise {

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
  Waiting waiting() const override;
  const std::string& path() const override { return files_.front(); }
  const char* doing() const override;
  std::string done() const override;

 private:
  Playlist playlist_;
  std::vector<SlideName> names_;
  std::vector<std::string> files_;
  WindowState window_;  // the user's own stays as it is
  StagePictures pictures_;
  bool as_pdf_;
  std::size_t drawn_ = 0;
  std::vector<std::vector<std::uint8_t>> made_;  // each as PNG
  PdfDocument document_;
  WaitingClock clock_;
};

}  // namespace headwise
