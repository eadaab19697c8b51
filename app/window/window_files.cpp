#include "app/window/window_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string_view>

#include "app/content/doc_pages.h"
#include "app/content/stage_views.h"
#include "app/lesson/page_place.h"
#include "app/lesson/page_text.h"
#include "app/platform/desktop_program.h"
#include "app/session/answer_check.h"
#include "app/session/commands.h"
#include "app/session/kept_work.h"
#include "app/window/page_edits.h"
#include "app/window/page_turns.h"
#include "app/window/window_pictures.h"
#include "app/window/window_state.h"
#include "app/window/window_training.h"
#include "core/export/program.h"
#include "core/files/array_files.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/png_file.h"
#include "core/model/layers/layer_rows.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

// The title of the playlist, or else of its first page,
// without what a file's name cannot have on one system or another.
std::string offered_playlist_name(const Playlist& playlist) {
  const std::string& title = playlist.title.empty() ? playlist.pages.front().title : playlist.title;
  std::string name;
  for (const char c : title)
    if (static_cast<unsigned char>(c) >= ' ' &&
        std::string_view("/\\:*?\"<>|").find(c) == std::string_view::npos)
      name += c;
  while (!name.empty() && (name.back() == ' ' || name.back() == '.')) name.pop_back();
  while (!name.empty() && (name.front() == ' ' || name.front() == '.')) name.erase(0, 1);
  constexpr std::size_t longest = 120;  // bytes: systems allow 255
  return name.empty() || name.size() > longest ? "playlist" : name;
}

// A picture goes into the model that is open.
void open_picture(WindowState& window, const std::string& path) {
  Session& session = window.document.session;
  const std::string whole = fs::absolute(path).string();
  session.edit(with_picture(session.scenario(), whole), "open " + fs::path(path).filename().string());
  if (window.view.selection.view != StageView::tokens)
    window.view.notices.say(
        fmt::format("{}: its patches are the tokens. The Tokens view shows where each of them looks.",
                    fs::path(path).filename().string()));
}

void open_scenario(WindowState& window, const std::string& path) {
  WindowDocument& document = window.document;
  if (is_png_name(path)) return open_picture(window, path);
  if (is_playlist_file(path)) {
    start_walk(window, read_checked_playlist(path), path);
    remember_file(document, path);
    return;
  }
  const Scenario scenario = scenario_of_file(path);
  document.walk.page.reset();  // what is opened is the user's own
  document.walk.arrival.reset();
  document.walk.own_history.reset();
  window.view.setup.forget_scenario();
  document.session.open(scenario, "open " + fs::path(path).filename().string());
  window.view.selection = selection_within(window.view.selection, document.session.trace());
  document.scenario_path = path;
  remember_file(document, path);
  notify_of_opened(window, scenario);
}

// A program's arrays must not overwrite those that the scenario reads.
void check_not_read(const Scenario& scenario, const fs::path& arrays) {
  for (const std::optional<std::string>& file :
       {scenario.inputs.file, scenario.parameters.file, scenario.mask.file}) {
    std::error_code missing;
    if (file && fs::equivalent(fs::path(scenario.origin.folder) / *file, arrays, missing)) {
      throw Error(ExitStatus::usage,
                  {.where = arrays.string(),
                   .what = "the program's arrays would overwrite a file that the scenario reads",
                   .remedy = "choose another name"});
    }
  }
}

void save_program(WindowState& window, const std::string& path) {
  if (!path.ends_with(".py")) {
    throw Error(ExitStatus::usage, {.where = path, .what = "the name of a Python program must end in .py"});
  }
  const Trace& trace = window.document.session.trace();
  const bool beside = program_array_bytes(trace) > largest_carried_bytes;
  if (beside)
    check_not_read(window.document.session.traced_scenario(), fs::path(path).replace_extension(".npz"));
  write_program(path, trace, window.view.inspector.code.style);
  window.document.program_path = path;
  window.view.notices.say(fmt::format("Saved {}{}", path, beside ? ", its arrays in an .npz beside it" : ""));
}

// What was requested has no result: its file could not be opened.
std::string unsaved_sentence(const Session& session) {
  return fmt::format("Not saved: {}. Fix it, or undo it with {}, and save again.", session.error(),
                     first_key_text(CommandId::undo));
}

void save_scenario(WindowState& window, const std::string& path) {
  WindowDocument& document = window.document;
  if (!document.session.error().empty())
    throw Error(ExitStatus::usage, {.what = unsaved_sentence(document.session)});
  write_scenario_file(document.session.scenario(), path);
  document.scenario_path = path;
  remember_file(document, path);
  window.view.notices.say("Saved the scenario in " + path);
}

void save_playlist(WindowState& window, const std::string& path) {
  WindowDocument& document = window.document;
  PlaylistWalk& walk = document.walk;
  checked_keys(walk.playlist, "not saved");  // it could not be opened again
  write_playlist_file(walk.playlist, path);
  walk.path = path;
  walk.changed = walk.from_program = false;
  remember_file(document, path);
  const bool edited = has_changed_scenario(walk, document.session.scenario());
  window.view.notices.say(fmt::format("Saved the playlist, {}, in {}.{}",
                                      counted(std::ssize(walk.playlist.pages), "page"), path,
                                      edited ? " What you changed on this page is not part of it." : ""));
  words_are_readable(window);
}

// The tensor that the stage shows: chosen in the graph, else the result of the step.
std::optional<TensorId> tensor_under_focus(const WindowState& window) {
  const Selection& selection = window.view.selection;
  if (selection.tensor) return selection.tensor;
  const std::vector<StepPicture> pictures = step_pictures(selection.step, window.document.session.trace());
  if (pictures.empty()) return std::nullopt;
  return pictures.front().result;
}

// Words belong to the map that they were written for; that there are none stays.
void forget_own_words(TensorExport& what, const TensorExport& before) {
  if (what.tensor == before.tensor && what.batch == before.batch && what.head == before.head) return;
  for (std::optional<std::string>* words : {&what.title, &what.picture.bar_label})
    if (*words != "") words->reset();
}

}  // namespace

std::string rescue_scenario(const Scenario& scenario) {
  const std::string folder = state_folder();
  if (folder.empty()) return "";
  const std::string path = folder + "/rescued.json";
  try {
    fs::create_directories(folder);
    write_scenario_file(scenario, path);
    return path;
  } catch (const std::exception&) {
    return "";
  }
}

std::string working_folder() {
  std::error_code error;
  const std::string folder = fs::current_path(error).string();
  return error || folder.ends_with('/') ? folder : folder + "/";
}

// Failing to save the list is no reason to complain about a file that was opened.
void remember_file(WindowDocument& document, const std::string& path) {
  if (is_builtin(path)) return;  // the presets menu lists them
  document.recent_files = with_recent_file(std::move(document.recent_files), path);
  try {
    save_recent_files(document.recent_file, document.recent_files);
  } catch (const Error&) {
  }
}

namespace {

// What a model does not specify, or what the operator does not reproduce.
std::string layer_sentence(const Scenario& scenario) {
  const std::string path = path_from(scenario.origin.folder, *scenario.parameters.file);
  const std::shared_ptr<const TextModel> model = TextModel::open(path);
  const AttentionLayers& layers = model->layers();
  const bool text = scenario.inputs.source == InputSource::text, reads_text = model->no_text().empty();
  const bool picture = scenario.inputs.source == InputSource::picture;
  const bool reached = reads_text && scenario.parameters.layer >= model->transformer()->first_layer();
  const bool predicts_words = reached && model->transformer()->no_words().empty();
  const AttentionLayer& layer = layers.layers[static_cast<std::size_t>(scenario.parameters.layer)];
  std::string notice = fmt::format(
      "{}: layer {} of {}, {}{}. Its parameters are the model's; {}. Choose other layers under PARAMETERS.",
      model_name(path), scenario.parameters.layer, layers.layers.size(), layer.family->name,
      layer.name.empty() ? "" : fmt::format(" ({})", layer.name),
      picture          ? "the inputs are what it computes from the picture"
      : !text          ? "the inputs are random"
      : predicts_words ? "the inputs are what it computes from the text; the Prediction view shows its words"
      : reached        ? "the inputs are what it computes from the text"
                       : "the tokens are embedded without it");
  if (const std::string count = layer_count_note(model->files(), layers); !count.empty())
    notice += fmt::format(" {}.", count);
  if (reads_text && !text) notice += " Set inputs to text to run your own words through the model.";
  if (!picture && model->no_picture().empty())
    notice += " It reads pictures: open a PNG, or drop one here, to run it through the model.";
  if (heads_are_assumed(scenario, layer)) {
    notice += fmt::format(
        " No config.json gives the number of heads: {} are assumed. Set num_heads to the right number.",
        scenario.attention.num_heads);
  }
  return notice;
}

// Says what was taken from arrays, and what they cannot tell.
void notify_of_arrays(WindowState& window, const Scenario& scenario) {
  if (is_of_model(scenario)) return window.view.notices.say(layer_sentence(scenario));
  if (is_array_file(window.document.scenario_path) && is_run_file(window.document.scenario_path))
    return window.view.notices.say(fmt::format("This is the run that wrote {}.",
                                               fs::path(window.document.scenario_path).filename().string()));
  if (scenario.inputs.source != InputSource::file) return;
  const bool parameters = scenario.parameters.source == ParameterSource::file;
  window.view.notices.say(fmt::format(
      "Taken from {}: the inputs{}{}. {}", fs::path(*scenario.inputs.file).filename().string(),
      parameters ? ", the parameters" : "", scenario.mask.file ? ", the masks" : "",
      parameters ? "Arrays do not record the scale, a causal mask and other options; the defaults are used."
                 : "It contains no parameters (in_proj_weight, out_proj.weight), so they are random."));
}

}  // namespace

void notify_of_opened(WindowState& window, const Scenario& scenario) {
  window.dialogs.heads_question = {};
  if (is_of_model(scenario))
    ask_heads(window.dialogs.heads_question, scenario,
              path_from(scenario.origin.folder, *scenario.parameters.file));
  if (!window.dialogs.heads_question.open) notify_of_arrays(window, scenario);
}

void take_heads(WindowState& window, const std::optional<HeadChoice>& heads) {
  Scenario scenario = window.dialogs.heads_question.scenario;
  if (heads) {
    set_heads(scenario.attention, *heads);
    scenario.origin.written.insert(num_heads_path);
    window.document.session.edit(scenario, "num_heads");
  }
  notify_of_arrays(window, scenario);
}

void ask_for_scenario(WindowState& window, FileDialogPurpose purpose) {
  WindowDocument& document = window.document;
  if (purpose == FileDialogPurpose::save_scenario && !document.session.error().empty())
    return window.view.notices.complain(unsaved_sentence(document.session));
  // A model is not a place to save to.
  const bool of_model = names_model(document.scenario_path);
  // Nor is the user's own file for the scenario of a page.
  const bool of_page = purpose == FileDialogPurpose::save_scenario && document.walk.page;
  const std::string known =
      document.scenario_path.empty() || of_model || of_page ? working_folder() : document.scenario_path;
  const bool saves = purpose == FileDialogPurpose::save_scenario;
  std::string offered = saves ? known : path_beside(known, "");
  if (saves && offered.ends_with('/')) offered += "scenario.json";
  // Nor is a file of arrays.
  if (saves && is_array_file(offered)) offered = fs::path(offered).replace_extension(".json").string();
  open_file_dialog(window.dialogs.files, purpose, offered);
  window.dialogs.files.own = document.scenario_path;
}

void save(WindowState& window) {
  WindowDocument& document = window.document;
  const PlaylistWalk& walk = document.walk;
  const bool pages = walk.page && (!walk.from_program || walk.changed);
  const std::string path = pages ? walk.path : document.scenario_path;
  const bool is_scenario = path.ends_with(".json") && !names_model(path) && !walk.page;
  if (path.empty() || !(pages || is_scenario)) {
    if (pages) return ask_for_playlist(window);
    return ask_for_scenario(window, FileDialogPurpose::save_scenario);
  }
  window.view.notices.attempt([&] { pages ? save_playlist(window, path) : save_scenario(window, path); });
}

void ask_for_program(WindowState& window) {
  WindowDocument& document = window.document;
  std::string offered = document.program_path;
  if (offered.empty()) {
    const fs::path scenario = document.scenario_path;
    offered = scenario.empty() || names_model(document.scenario_path)
                  ? working_folder() + "attention.py"
                  : path_beside(expanded_path(document.scenario_path), scenario.stem().string() + ".py");
  }
  open_file_dialog(window.dialogs.files, FileDialogPurpose::save_program, offered);
  window.dialogs.files.own = document.program_path;
  window.dialogs.files.arrays_beside = program_array_bytes(document.session.trace()) > largest_carried_bytes;
}

void ask_for_playlist(WindowState& window) {
  WindowDocument& document = window.document;
  if (document.walk.playlist.pages.empty())
    return window.view.notices.say("There is no playlist to save yet. Start one with “Add page”.");
  const std::string path = document.walk.path.empty()
                               ? working_folder() + offered_playlist_name(document.walk.playlist) + ".json"
                               : document.walk.path;
  open_file_dialog(window.dialogs.files, FileDialogPurpose::save_playlist, path);
  window.dialogs.files.own = document.walk.path;
}

TensorName name_to_export(const WindowState& window, TensorId id) {
  const TensorName gradient{id, true};
  const bool shown = window.view.selection.view == StageView::gradients;
  return shown && window.document.trace_at_hand().tensor(gradient) ? gradient : TensorName{id};
}

void ask_for_export(WindowState& window) {
  const std::optional<TensorId> id = tensor_under_focus(window);
  const TensorPtr tensor = id ? window.document.session.trace().tensor(*id) : nullptr;
  const Selection& selection = window.view.selection;
  const Trace& trace = window.document.trace_at_hand();
  const TensorName shown = tensor ? name_to_export(window, *id) : TensorName{};
  // What a page hides until it is answered is not told by a file either.
  const std::optional<Veil> veil = veil_of(window.document.walk);
  ExportDialogState& dialog = window.dialogs.export_dialog;
  TensorExport before = dialog.what;
  if (dialog.path.empty()) before.range_kind = ExportRange::shared;  // at first the colours are the stage's
  const std::string folder = dialog.path.empty() ? working_folder() : path_beside(dialog.path, "");
  dialog = {};
  dialog.open = dialog.appearing = true;
  // What a picture looks like stays as last chosen; what is exported follows the stage.
  dialog.what = before;
  const std::string_view view_name = stage_view_entry(selection.view).name;
  dialog.stage_title =
      fmt::format("{}, {}", step_entries()[static_cast<std::size_t>(selection.step)].name, view_name);
  dialog.path =
      folder + (selection.tensor ? to_string(TensorName{*selection.tensor}) : step_word(selection.step));
  if (selection.view != StageView::one_head)
    dialog.path += fmt::format("-{}", stage_view_words[static_cast<std::size_t>(selection.view)]);
  dialog.path += ".png";
  dialog.has_map = tensor && !(veil && veil->hides(shown));
  if (!dialog.has_map) return;
  dialog.what.tensor = shown;
  dialog.what.batch = selection.batch;
  dialog.what.queries_as_columns = selection.queries_as_columns;
  dialog.head = export_head_of(trace, shown, selection.head);
  dialog.has_heads = export_head_count(trace, shown) > 1;
  TensorExport one = dialog.what, all_heads = dialog.what;
  one.head = dialog.head;
  all_heads.head.reset();
  dialog.title = export_title(trace, one);
  dialog.title_of_all = export_title(trace, all_heads);
  const bool all = dialog.has_heads && selection.view == StageView::all_heads;
  dialog.what.head = all ? std::nullopt : std::optional(dialog.head);
  forget_own_words(dialog.what, before);
}

void open_file(WindowState& window, const std::string& path) {
  window.view.notices.attempt<std::exception>([&] { open_scenario(window, path); });
}

void accept_file(WindowState& window, const std::string& path) {
  FileDialogState& dialog = window.dialogs.files;
  try {
    // In the order of FileDialogPurpose, up to what a training is saved as.
    constexpr void (*accepts[])(WindowState&, const std::string&) = {
        open_scenario,
        save_scenario,
        save_program,
        save_playlist,
        save_stage_picture,
        save_motion,
        save_slides,
        [](WindowState& state, const std::string& task) {
          begin_training(state.document.training, state.dialogs.training, {.name = "file", .file = task});
        }};
    static_assert(std::size(accepts) == static_cast<std::size_t>(FileDialogPurpose::open_training_task) + 1);
    const auto purpose = static_cast<std::size_t>(dialog.purpose);
    if (purpose < std::size(accepts))
      accepts[purpose](window, path);
    else
      save_training(window, dialog.purpose, path);
    if (dialog.purpose == FileDialogPurpose::open_training_task && !window.dialogs.training.error.empty()) {
      dialog.error = window.dialogs.training.error;
      return;
    }
    dialog.open = false;
  } catch (const Error& error) {
    dialog.error = error.what();
    window.view.notices.log.write(dialog.error);
  }
}

void accept_export(WindowState& window) {
  ExportDialogState& dialog = window.dialogs.export_dialog;
  const std::string path = expanded_path(dialog.path);
  try {
    if (exports_stage(dialog)) {
      write_stage_picture(window, path, dialog.what.theme);
      dialog.open = false;
      return window.view.notices.say(fmt::format("Exported the stage to {}", path));
    }
    export_tensor(window.document.trace_at_hand(), window.document.session.inputs().labels, dialog.what, path);
    dialog.open = false;
    window.view.notices.say(fmt::format("Exported {} to {}", to_string(dialog.what.tensor), path));
  } catch (const Error& error) {
    dialog.error = error.what();
    window.view.notices.log.write(dialog.error);
  }
}

void open_docs_in_browser(WindowState& window) {
  const std::string& kept = window.document.kept_folder;
  window.view.notices.attempt<std::exception>([&] {
    const fs::path folder = kept.empty() ? fs::temp_directory_path() : fs::path(kept);
    if (!kept.empty()) fs::create_directories(folder);
    const std::string file = (folder / "headwise-docs.html").string(), browser = browser_program();
    write_file_atomically(file, docs_html());
    if (browser.empty() || !open_in_browser(browser, file))
      return window.view.notices.say(
          fmt::format("No web browser could be started. The documentation is in {}", file));
    window.view.notices.say(fmt::format("Opening {} with {}", file, browser));
  });
}

}  // namespace headwise
