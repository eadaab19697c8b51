#include "app/window/window_pictures.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "app/content/stage_content.h"
#include "app/platform/image_clipboard.h"
#include "app/session/tensor_export.h"
#include "app/window/motion_recording.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_files.h"
#include "core/files/atomic_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

StagePictures slide_pictures(const WindowState& window) {
  return {StagePictures::usual_width, StagePictures::usual_height, window.settings.theme};
}

std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string offered(const WindowState& window, const std::string& suffix) {
  const std::string folder = window.picture_path.empty() ? working_folder() : folder_of(window.picture_path);
  return folder + step_word(window.selection.step) + suffix;
}

void check_ending(const std::string& path, bool matches, const std::string& expected) {
  if (!matches)
    throw Error(ExitStatus::usage,
                {.where = path, .what = "the name has a different extension", .expected = expected});
}

// The clipboard's program reads the file; it stays there until the next copy.
void hand_over(WindowState& window, const std::string& what, const std::string& path) {
  const std::optional<ClipboardProgram> program = find_clipboard_program();
  if (program && copy_png_file(*program, path)) {
    window.notices.say(fmt::format("Copied {} as an image ({}), and saved it in {}", what,
                                   fs::path(program->path).filename().string(), path));
  } else {
    window.notices.say(
        fmt::format("{} was saved in {}: copying to the clipboard needs xclip or wl-copy", what, path));
  }
}

std::string clipboard_file() {
  const std::string folder = picture_cache_folder();
  std::error_code ignored;
  fs::create_directories(folder, ignored);  // where it fails, writing says why
  return folder + "/clipboard.png";
}

}  // namespace

void ask_for_stage_picture(WindowState& window) {
  open_file_dialog(window.files, FileDialogPurpose::save_stage_picture, offered(window, ".png"));
}

void ask_for_motion(WindowState& window) {
  const std::string why = no_motion(window.selection, window.session.trace());
  if (why.empty())
    open_file_dialog(window.files, FileDialogPurpose::save_motion, offered(window, "-motion.png"));
  else
    window.notices.say(why);
}

void save_stage_picture(WindowState& window, const std::string& path) {
  const bool svg = path.ends_with(".svg");
  check_ending(path, svg || path.ends_with(".png"), ".png or .svg");
  StagePictures pictures = slide_pictures(window);
  if (svg)
    write_file_atomically(path, pictures.svg(window));
  else
    write_file_atomically(path, text_of(to_png(pictures.image(window))));
  window.picture_path = path;
  window.notices.say("Saved " + path);
}

void save_motion(WindowState& window, const std::string& path) {
  check_ending(path, path.ends_with(".png") || path.ends_with(".apng"), ".png (animated)");
  window.recording = std::make_shared<MotionRecording>(window, path);
}

void record_motion(WindowState& window) {
  if (!window.recording) return;
  try {
    if (window.recording->advance(window)) return;
    window.picture_path = window.recording->path();
    window.notices.say("Saved " + window.picture_path + ", an animated PNG that browsers and slides can play");
  } catch (const Error& error) {
    window.notices.complain(error.what());
  }
  window.recording.reset();
}

void copy_stage_image(WindowState& window) {
  try {
    const std::string path = clipboard_file();
    write_file_atomically(path, text_of(to_png(slide_pictures(window).image(window))));
    hand_over(window, "The stage", path);
  } catch (const Error& error) {
    window.notices.complain(error.what());
  }
}

void copy_map_image(WindowState& window) {
  const Trace& trace = window.trace_at_hand();
  const std::optional<StepPicture> picture = shown_picture(trace, window.selection);
  if (!picture) {
    window.notices.say("This step has no map to copy.");
    return;
  }
  try {
    TensorExport what;
    what.tensor = name_to_export(window, picture->result);
    what.batch = window.selection.batch;
    what.head = export_head_of(trace, what.tensor, window.selection.head);
    what.theme = window.settings.theme;
    what.range_kind = ExportRange::shared;  // as on the stage
    const std::string path = clipboard_file();
    export_tensor(trace, window.session.inputs().labels, what, path);
    hand_over(window, export_title(trace, what), path);
  } catch (const Error& error) {
    window.notices.complain(error.what());
  }
}

}  // namespace headwise
