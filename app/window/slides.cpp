#include "app/window/slides.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/content/motion.h"
#include "app/lesson/playlist_walk.h"
#include "app/session/tensor_export.h"
#include "app/window/page_turns.h"
#include "core/files/atomic_file.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"

namespace headwise {

std::string show_slide(WindowState& window, const Playlist& playlist, std::size_t page, bool asking) {
  WindowDocument& document = window.document;
  start_walk(window, playlist, "", page);
  if (document.walk.asking() && !asking) walk_pages(window, 1);
  document.session.finish();
  arrive(window);
  if (wants_gradients(window.view.selection)) {  // which its words may tell
    document.gradients.of(document.session.computation(), window.view.selection.loss);
    document.gradients.finish();
    document.gradients.of(document.session.computation(), window.view.selection.loss);
    arrive(window);
  }
  skip_motion(window.view.motion);
  return document.session.error().empty() ? page_problem(playlist.pages[page], document.session.trace())
                                          : document.session.error();
}

std::vector<SlideName> slide_names(const Playlist& playlist) {
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(playlist.pages.size()).size());
  std::vector<SlideName> names;
  for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
    const std::string number = fmt::format("{:0{}}", page + 1, digits);
    if (!playlist.pages[page].ask.empty()) names.push_back({page, true, number + "-ask"});
    names.push_back({page, false, number});
  }
  return names;
}

PictureRecording::PictureRecording(const char* doing, std::string path, std::size_t count)
    : path_(std::move(path)), count_(count), doing_(doing) {
  clock_.begin();
}

Waiting PictureRecording::waiting() const {
  Waiting waiting = clock_.waiting();
  waiting.seconds = std::max(waiting.seconds, long_wait_seconds);  // it is never finished at once
  waiting.fraction = static_cast<double>(made_) / static_cast<double>(count_ + 1);
  return waiting;
}

MotionRecording::MotionRecording(const WindowState& window, std::string path)
    : PictureRecording("saving the animation", std::move(path), StagePictures::most_motion_pictures),
      pictures_(StagePictures::usual_width, StagePictures::usual_height, window.view.settings.theme),
      selection_(window.view.selection),
      computation_(window.document.session.computation()) {
  selection_.hovered.reset();
}

bool MotionRecording::advance(WindowState& window) {
  Selection now = window.view.selection;
  now.hovered.reset();
  if (window.document.session.computation() != computation_ || !(now == selection_))
    throw Error(ExitStatus::cancelled, {.where = path_,
                                        .what = "the animation was not saved",
                                        .got = "a change of step, cell or result before the last frame",
                                        .remedy = "leave the window unchanged until it is saved"});
  const auto which = static_cast<int>(made_);
  if (which < StagePictures::motion_count(window)) {
    pictures_.add_motion_frame(window, which, animation_);
    ++made_;
    return true;
  }
  write_file_atomically(path_, file_bytes(animation_.finish()));
  return false;
}

std::string MotionRecording::done() const {
  return "Saved " + path_ + ", an animated PNG that browsers and slides can play";
}

SlideRecording::SlideRecording(Playlist playlist, const std::string& path, Theme theme)
    : PictureRecording("saving the slides", path, slide_names(playlist).size()),
      playlist_(std::move(playlist)),
      names_(slide_names(playlist_)),
      window_(preset_scenario("welcome")),
      pictures_(StagePictures::usual_width, StagePictures::usual_height, theme,
                StagePictures::Look::presentation),
      as_pdf_(picture_format(path) == ExportFormat::pdf) {
  const std::string stem = path.ends_with(".png") ? path.substr(0, path.size() - 4) : path;
  if (as_pdf_)
    files_.push_back(path);
  else
    for (const SlideName& name : names_) files_.push_back(fmt::format("{}-{}.png", stem, name.name));
  std::error_code ignored;
  for (const std::string& file : files_)
    if (std::filesystem::exists(file, ignored))
      throw Error(ExitStatus::usage, {.where = file,
                                      .what = "a file of this name exists",
                                      .remedy = "choose another name, or another folder"});
  path_ = files_.front();
}

bool SlideRecording::advance(WindowState&) {
  if (made_ < count_) {
    const SlideName& next = names_[made_];
    if (const std::string why = show_slide(window_, playlist_, next.page, next.asks); !why.empty())
      throw Error(ExitStatus::usage, {.where = fmt::format("page {}", next.page + 1), .what = why});
    if (as_pdf_)
      pictures_.add_page(window_, document_);
    else
      slides_.push_back(to_png(pictures_.image(window_)));
    ++made_;
    return true;
  }
  if (as_pdf_) {
    write_file_atomically(files_.front(), document_.finish());
    return false;
  }
  for (std::size_t i = 0; i < files_.size(); ++i) write_file_atomically(files_[i], file_bytes(slides_[i]));
  return false;
}

std::string SlideRecording::done() const {
  return as_pdf_ || files_.size() == 1
             ? "Saved " + files_.front()
             : fmt::format("Saved {} slides, {} to {}", files_.size(), files_.front(),
                           std::filesystem::path(files_.back()).filename().string());
}

}  // namespace headwise
