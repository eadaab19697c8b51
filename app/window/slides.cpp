#include "app/window/slides.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/content/motion.h"
#include "app/session/tensor_export.h"
#include "app/window/playlist_walk.h"
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

SlideRecording::SlideRecording(Playlist playlist, const std::string& path, Theme theme)
    : playlist_(std::move(playlist)),
      names_(slide_names(playlist_)),
      window_(preset_scenario("welcome")),
      pictures_(StagePictures::usual_width, StagePictures::usual_height, theme, StagePictures::Look::hall),
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
                                      .got = "",
                                      .expected = "",
                                      .remedy = "choose another name, or another folder"});
  clock_.begin();
}

bool SlideRecording::advance(WindowState&) {
  if (drawn_ < names_.size()) {
    const SlideName& next = names_[drawn_];
    if (const std::string why = show_slide(window_, playlist_, next.page, next.asks); !why.empty())
      throw Error(ExitStatus::usage, {.where = fmt::format("page {}", next.page + 1), .what = why});
    if (as_pdf_)
      pictures_.add_page(window_, document_);
    else
      made_.push_back(to_png(pictures_.image(window_)));
    ++drawn_;
    return true;
  }
  if (as_pdf_) {
    write_file_atomically(files_.front(), document_.finish());
    return false;
  }
  for (std::size_t i = 0; i < files_.size(); ++i)
    write_file_atomically(files_[i],
                          std::string_view(reinterpret_cast<const char*>(made_[i].data()), made_[i].size()));
  return false;
}

Waiting SlideRecording::waiting() const {
  Waiting waiting = clock_.waiting();
  waiting.seconds = std::max(waiting.seconds, seconds_before_told);  // it is never finished at once
  waiting.fraction = static_cast<double>(drawn_) / static_cast<double>(names_.size() + 1);
  return waiting;
}

const char* SlideRecording::doing() const {
  return "saving the slides";
}

std::string SlideRecording::done() const {
  return as_pdf_ || files_.size() == 1
             ? "Saved " + files_.front()
             : fmt::format("Saved {} slides, {} to {}", files_.size(), files_.front(),
                           std::filesystem::path(files_.back()).filename().string());
}

}  // namespace headwise
