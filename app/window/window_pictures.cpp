#include "app/window/window_pictures.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "app/content/stage_content.h"
#include "app/platform/desktop_program.h"
#include "app/session/tensor_export.h"
#include "app/window/motion_recording.h"
#include "app/window/slides.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_copies.h"
#include "app/window/window_files.h"
#include "app/window/window_state.h"
#include "core/files/atomic_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

StagePictures slide_pictures(const WindowState& window) {
  return {StagePictures::usual_width, StagePictures::usual_height, window.view.settings.theme};
}

std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string offered(const WindowState& window, const std::string& suffix) {
  const std::string& before = window.document.picture_path;
  return path_beside(before.empty() ? working_folder() : before,
                     step_word(window.view.selection.step) + suffix);
}

void check_ending(const std::string& path, bool matches, const std::string& expected) {
  if (!matches)
    throw Error(ExitStatus::usage,
                {.where = path, .what = "the name has a different extension", .expected = expected});
}

// The clipboard program reads the file; it stays there until the next copy.
void hand_over(WindowState& window, const std::string& what, const std::string& path) {
  const std::optional<ClipboardProgram> program = find_clipboard_program();
  if (program && copy_png_file(*program, path)) {
    window.view.notices.say(fmt::format("Copied {} as an image ({}), and saved it in {}", what,
                                        fs::path(program->path).filename().string(), path));
  } else {
    window.view.notices.say(
        fmt::format("{} was saved in {}: copying to the clipboard needs xclip or wl-copy", what, path));
  }
}

std::string clipboard_file() {
  const std::string folder = picture_cache_folder();
  std::error_code ignored;
  fs::create_directories(folder, ignored);  // if this fails, writing reports why
  return folder + "/clipboard.png";
}

}  // namespace

void ask_for_stage_picture(WindowState& window) {
  open_file_dialog(window.dialogs.files, FileDialogPurpose::save_stage_picture, offered(window, ".png"));
}

void ask_for_motion(WindowState& window) {
  const std::string why = no_motion(window.view.selection, window.document.session.trace());
  if (why.empty())
    open_file_dialog(window.dialogs.files, FileDialogPurpose::save_motion, offered(window, "-motion.png"));
  else
    window.view.notices.say(why);
}

void write_stage_picture(WindowState& window, const std::string& path, Theme theme) {
  const ExportFormat format = picture_format(path);
  StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, theme);
  if (format == ExportFormat::png)
    return write_file_atomically(path, text_of(to_png(pictures.image(window))));
  write_file_atomically(path, format == ExportFormat::svg ? pictures.svg(window) : pictures.pdf(window));
}

void save_stage_picture(WindowState& window, const std::string& path) {
  write_stage_picture(window, path, window.view.settings.theme);
  window.document.picture_path = path;
  window.view.notices.say("Saved " + path);
}

void save_motion(WindowState& window, const std::string& path) {
  check_ending(path, path.ends_with(".png") || path.ends_with(".apng"), ".png (animated)");
  window.view.recording = std::make_shared<MotionRecording>(window, path);
}

void ask_for_slides(WindowState& window) {
  const Playlist& playlist = window.document.walk.playlist;
  if (playlist.pages.empty())
    return window.view.notices.say("There is no playlist yet. Open one, or start one with “Add page”.");
  const std::string& path = window.document.walk.path;
  open_file_dialog(window.dialogs.files, FileDialogPurpose::save_slides,
                   path_beside(path.empty() ? working_folder() : path, "slides.png"));
}

void save_slides(WindowState& window, const std::string& path) {
  check_ending(path, path.ends_with(".png") || path.ends_with(".pdf"), ".png or .pdf");
  window.view.recording =
      std::make_shared<SlideRecording>(window.document.walk.playlist, path, window.view.settings.theme);
}

void record_pictures(WindowState& window) {
  WindowView& view = window.view;
  if (!view.recording) return;
  try {
    if (view.recording->advance(window)) return;
    window.document.picture_path = view.recording->path();
    view.notices.say(view.recording->done());
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
  view.recording.reset();
}

void copy_stage_image(WindowState& window) {
  try {
    const std::string path = clipboard_file();
    write_file_atomically(path, text_of(to_png(slide_pictures(window).image(window))));
    hand_over(window, "The stage", path);
  } catch (const Error& error) {
    window.view.notices.complain(error.what());
  }
}

void copy_map_image(WindowState& window) {
  try {
    std::optional<TensorExport> what = map_to_copy(window);
    if (!what) return;
    what->theme = window.view.settings.theme;
    what->range_kind = ExportRange::shared;  // as on the stage
    const Trace& trace = window.document.trace_at_hand();
    const std::string path = clipboard_file();
    export_tensor(trace, window.document.session.inputs().labels, *what, path);
    hand_over(window, export_title(trace, *what), path);
  } catch (const Error& error) {
    window.view.notices.complain(error.what());
  }
}

}  // namespace headwise
