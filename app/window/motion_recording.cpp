#include "app/window/motion_recording.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/window/window_state.h"
#include "core/files/atomic_file.h"
#include "core/tensor/error.h"

namespace headwise {

MotionRecording::MotionRecording(const WindowState& window, std::string path)
    : path_(std::move(path)),
      pictures_(StagePictures::usual_width, StagePictures::usual_height, window.view.settings.theme),
      selection_(window.view.selection),
      computation_(window.document.session.computation()) {
  selection_.hovered.reset();
  clock_.begin();
}

bool MotionRecording::advance(WindowState& window) {
  Selection now = window.view.selection;
  now.hovered.reset();
  if (window.document.session.computation() != computation_ || !(now == selection_))
    throw Error(ExitStatus::cancelled, {.where = path_,
                                        .what = "the animation was not saved",
                                        .got = "a change of step, cell or result before the last frame",
                                        .expected = "",
                                        .remedy = "leave the window unchanged until it is saved"});
  const int count = StagePictures::motion_count(window);
  if (made_ < count) {
    pictures_.add_motion_picture(window, made_++, animation_);
    return true;
  }
  const std::vector<std::uint8_t> bytes = animation_.finish();
  write_file_atomically(path_, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return false;
}

const char* MotionRecording::doing() const {
  return "saving the animation";
}

std::string MotionRecording::done() const {
  return "Saved " + path_ + ", an animated PNG that browsers and slides can play";
}

Waiting MotionRecording::waiting() const {
  Waiting waiting = clock_.waiting();
  waiting.seconds = std::max(waiting.seconds, seconds_before_told);  // it is never finished at once
  waiting.fraction = static_cast<double>(made_) / (StagePictures::most_motion_pictures + 1);
  return waiting;
}

}  // namespace headwise
