#include "app/window/window_pictures.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/content/stage_content.h"
#include "app/platform/desktop_program.h"
#include "app/session/computation.h"
#include "app/stage/mask_bars.h"
#include "app/window/frame_snapshot.h"
#include "app/window/slides.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_files.h"
#include "app/window/window_state.h"
#include "core/export/image.h"
#include "core/export/program.h"
#include "core/files/atomic_file.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr const char* hidden_map_words = "The page hides this map until its question is answered.";

bool hides(const WindowState& window, TensorName tensor) {
  const std::optional<Veil> veil = veil_of(window.document.walk);
  return veil && veil->hides(tensor);
}

// Which tensor, sequence and head the commands copy; if there is none, a notice says so.
std::optional<TensorExport> map_to_copy(WindowState& window) {
  const WindowView& view = window.view;
  const Trace& trace = window.document.trace_at_hand();
  const std::optional<StepPicture> picture = shown_picture(trace, view.selection);
  if (!picture) {
    window.view.notices.say("This step has no map to copy.");
    return std::nullopt;
  }
  TensorExport what;
  what.tensor = name_to_export(window, picture->result);
  if (hides(window, what.tensor)) {
    window.view.notices.say(hidden_map_words);
    return std::nullopt;
  }
  what.batch = view.selection.batch;
  what.head = export_head_of(trace, what.tensor, view.selection.head);
  return what;
}

}  // namespace

void copy_value(WindowState& window) {
  WindowView& view = window.view;
  const Selection in_sight = FrameSnapshot(window).selection;
  const std::optional<CellRef>& cell = in_sight.pinned ? in_sight.pinned : in_sight.hovered;
  const Trace& trace = window.document.trace_at_hand();
  const TensorPtr tensor = cell ? trace.tensor(cell->tensor) : nullptr;
  if (!tensor) {
    const std::optional<StepPicture> picture = shown_picture(trace, view.selection);
    const bool hidden =
        view.selection.pinned || view.selection.hovered || (picture && hides(window, {picture->result}));
    return view.notices.say(hidden ? hidden_map_words
                                   : "No cell to copy: click one to pin it, or point at it.");
  }
  window.clipboard = fmt::format("{:.9g}", tensor->at(cell->index));
  view.notices.say(
      fmt::format("Copied {} ({}[{}])", window.clipboard, to_string(cell->tensor), join(cell->index, ",")));
}

void copy_map(WindowState& window, MapText text) {
  WindowView& view = window.view;
  view.notices.attempt([&] {
    const std::optional<TensorExport> what = map_to_copy(window);
    if (!what) return;
    const Trace& trace = window.document.trace_at_hand();
    const TokenLabels& labels = window.document.session.inputs().labels;
    const bool as_table = text == MapText::table;
    window.clipboard = as_table ? map_as_table(trace, labels, *what) : map_as_numpy_array(trace, labels, *what);
    view.notices.say(
        fmt::format("Copied {} {}", export_title(trace, *what), as_table ? "as a table" : "as an np.array"));
  });
}

void copy_mask(WindowState& window) {
  WindowView& view = window.view;
  if (hides(window, {TensorId::mask_bias})) return view.notices.say(hidden_map_words);
  const Trace& trace = window.document.session.trace();
  const auto mask = stage_matrix(trace, {TensorId::mask_bias}, {view.selection.batch, view.selection.head});
  if (!mask || mask->view.tensor->size() == 0) return view.notices.say("There is no mask to copy.");
  MaskConvention reading = view.selection.mask_convention;
  if (reading == MaskConvention::added) {
    reading = projects(trace.options.op) ? MaskConvention::true_blocks : MaskConvention::true_keeps;
  }
  view.notices.attempt([&] {
    window.clipboard = mask_as_booleans(mask->view, reading);
    view.notices.say(fmt::format("Copied the mask {}: True {}", matrix_sizes(*mask),
                                 reading == MaskConvention::true_blocks ? "is blocked" : "takes part"));
  });
}

void copy_program(WindowState& window) {
  WindowView& view = window.view;
  const Trace& trace = window.document.session.trace();
  const CodeStyle style = view.inspector.code.style;
  if (program_array_bytes(trace) > largest_carried_bytes)
    return view.notices.say(
        "The program's arrays are too large to paste: save it to a file (Save program…).");
  view.notices.attempt([&] {
    window.clipboard = program_text(trace, style);
    view.notices.say(fmt::format("Copied the program in {}: {} lines", code_style_name(style),
                                 std::ranges::count(window.clipboard, '\n')));
  });
}

namespace {

namespace fs = std::filesystem;

StagePictures slide_pictures(const WindowState& window) {
  return {StagePictures::usual_width, StagePictures::usual_height, window.view.settings.theme};
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
    return write_file_atomically(path, file_bytes(to_png(pictures.image(window))));
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
  window.view.notices.attempt([&] {
    const std::string path = clipboard_file();
    write_file_atomically(path, file_bytes(to_png(slide_pictures(window).image(window))));
    hand_over(window, "The stage", path);
  });
}

void copy_map_image(WindowState& window) {
  window.view.notices.attempt([&] {
    std::optional<TensorExport> what = map_to_copy(window);
    if (!what) return;
    what->theme = window.view.settings.theme;
    what->range_kind = ExportRange::shared;  // as on the stage
    const Trace& trace = window.document.trace_at_hand();
    const std::string path = clipboard_file();
    export_tensor(trace, window.document.session.inputs().labels, *what, path);
    hand_over(window, export_title(trace, *what), path);
  });
}

}  // namespace headwise
