#include "app/cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "app/cli/standard_streams.h"
#include "app/cli/trace_request.h"
#include "app/window/run_window.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/png_file.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"
#include "core/scenario/run_record.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/version.h"
#include "core/train/trained_models.h"

namespace headwise {
namespace {

constexpr std::array commands{
    Subcommand{
        "run", "Compute a scenario and write every tensor of it to a file",
        "  headwise run welcome -o trace.npz\n"
        "  headwise run mha.json --input inputs.npz --input weights.safetensors --dtype f64 -o trace.npz\n"
        "  headwise run mha.json --backward --only output,grad.query,grad.in_proj_weight -o gradients.npz\n"
        "  headwise run mha.json --set attention.num_heads=4 --only attn_weights,output -o two.safetensors\n"
        "  headwise run mha.json -o mha.py --style numpy\n"
        "  headwise run bert-base-uncased --layers all --only attn_weights -o maps.npz\n"
        "  headwise run - --format npz -o - < mha.json > trace.npz\n",
        run_run},
    Subcommand{
        "export", "Write a tensor of a scenario as a picture, a table or an array",
        "  headwise export welcome --tensor attn_weights --head 3 -o head3.png\n"
        "  headwise export welcome --tensor attn_weights --head all --range 0:1 -o heads.svg\n"
        "  headwise export welcome --tensor attn_weights --title \"\" --bar-label weight -o figure.pdf\n"
        "  headwise export mha.json --input inputs.npz --tensor output --batch 1 -o output.csv\n",
        run_export},
    Subcommand{"render",
               "Write every page of a playlist as a picture, for slides, or as a lesson for a browser",
               "  headwise render lesson.json -o slides\n"
               "  headwise render lesson.json -o slides --size 1280x720 --theme projector --motion\n"
               "  headwise render lesson.json -o slides --format svg\n"
               "  headwise render lesson.json -o slides.pdf\n"
               "  headwise render first_walk -o first_walk.html\n"
               "  headwise render docs -o site\n",
               run_render},
    Subcommand{"compare", "Compare a scenario with the tensors of another program",
               "  headwise compare mha.json --input inputs.npz --with theirs.npz\n"
               "  headwise compare mha.json --input inputs.npz --with theirs.safetensors --dtype f64 "
               "--tolerance 1e-12\n"
               "  headwise compare model_folder --layers all --with theirs.npz\n"
               "  headwise compare sdpa.json --with output.npy --with attn_weights.npy --json\n",
               run_compare},
    Subcommand{
        "info", "Describe a scenario, an array file or a model, with a scenario's cost and comparisons",
        "  headwise info welcome\n"
        "  headwise info mha.json --set attention.num_heads=4 --json\n"
        "  headwise info model.safetensors\n  headwise info bert-base-uncased\n  headwise info trace.npz\n"
        "  headwise info welcome --cell scores:0,0,7,5\n",
        run_info},
    Subcommand{
        "bench", "Measure the speed of the backends, or of the window",
        "  headwise bench\n"
        "  headwise bench --preset random --set attention.embed_dim=512 --backend fused,gl --repeat 9 "
        "--json\n"
        "  headwise bench --ui\n"
        "  headwise bench --ui --preset random --set inputs.source=random --set attention.embed_dim=512 "
        "--set inputs.query_length=512\n"
        "  headwise bench --ui --size 1280x720 --json\n",
        run_bench},
    Subcommand{"train", "Train a small model on a task, with checkpoints and a curve",
               "  headwise train induction -o run\n"
               "  headwise train induction -o wide --heads 1 --steps 300 --seed 1\n"
               "  headwise train reverse -o reverse --positions rotary --layers 2 --learning-rate 0.001\n"
               "  headwise train book.txt -o book --length 64 --steps 2000 --every 200\n"
               "  headwise train -o run --resume --steps 1000\n"
               "  headwise train induction -o heads --beside one-wide-head\n"
               "  headwise train induction -o induction.py\n",
               run_train},
    Subcommand{"grade",
               "Grade the homework of a class: the answers to each question, and each student's score",
               "  headwise grade homework\n"
               "  headwise grade homework --lesson lesson.json --csv -o questions.csv\n"
               "  headwise grade homework/*.json --by student -o students.csv\n"
               "  headwise grade ada.json bob.json lesson.json --json\n",
               run_grade},
    Subcommand{"list",
               "List what Headwise knows: presets, lessons, tensors, masks, colormaps, backends, settings, "
               "tasks, changes",
               "  headwise list tensors\n"
               "  headwise list settings\n"
               "  headwise list presets --json\n",
               run_list},
};

template <class T>
T whole_word(const std::string& option, const std::string& word, const char* expected) {
  T value{};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  bool valid = error == std::errc() && stop == end;
  if constexpr (std::is_floating_point_v<T>) valid = valid && std::isfinite(value);
  if (!valid) refuse_option(option, "the value is wrong", word, expected);
  return value;
}

std::string overview() {
  std::string text =
      "Headwise: see multi-head attention happen, number by number.\n\n"
      "Usage:\n"
      "  headwise [FILE|FOLDER] open the window on a scenario, a playlist, an array file or a model; by "
      "default,\n                         on the welcome scenario\n"
      "  headwise FOLDER PICTURE.png  the same on a model that reads pictures, such as ViT\n"
      "  headwise --no-intro    start without the intro\n";
  for (const Subcommand& command : subcommands())
    text += fmt::format("  headwise {:<12}  {}\n", command.name, command.what);
  text +=
      "  headwise --help        print this; headwise help COMMAND explains a command\n"
      "  headwise --version     print the version\n\n"
      "Examples:\n";
  for (const Subcommand& command : subcommands())
    text += command.examples.substr(0, command.examples.find('\n') + 1);
  return text +
         "\nExit status: 0 done; 1 a comparison found a difference; 2 the command line or the scenario is "
         "wrong; 3 an input\nfile is wrong; 4 the output could not be written; 5 out of memory; 6 cancelled; "
         "7 no usable GPU or\ndisplay.\n";
}

// Ctrl+C and SIGTERM while a file is being written: no partial file is left behind.
void cancelled(int) {
  remove_unfinished_file();
  hide_progress_line();
  constexpr char line[] = "headwise: cancelled\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
  _exit(static_cast<int>(ExitStatus::cancelled));
}

void set_signals() {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe makes write() fail instead of ending the process
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file above the size limit
}

void cancel_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, cancelled) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup stays in effect
  }
}

void run_subcommand(const Subcommand& command, const Words& words) {
  cancel_on_signals();
  CommandOptions options(command.name, command.what, command.examples);
  std::optional<ProgressLine> progress;
  if (command.name != "bench")
    progress.emplace(STDERR_FILENO, std::string(command.name));  // not for bench: it would disturb timings
  command.run(options, words);
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Subcommand& command : commands) names.emplace_back(command.name);
  return names;
}

// "run" for "rnu"; empty if no command is close.
std::string nearest_command(const std::string& word) {
  return nearest_name(word, command_names());
}

constexpr const char* no_intro = "--no-intro";

// `only_files`: the words are no options and no commands.
int open_window(Words words, bool only_files = false) {
  const bool intro = only_files || std::erase(words, no_intro) == 0;
  const std::string remedy = "see headwise --help";
  const std::string meant = words.empty() || only_files ? "" : nearest_command(words[0]);
  if (!meant.empty() && !is_there(words[0]))
    refuse_option("", "there is no such command", words[0], "", fmt::format("did you mean \"{}\"?", meant));
  const bool has_picture = words.size() == 2 && is_png_name(words[1]);
  if (words.size() > 1 && !has_picture)
    refuse_option("", "too many arguments", fmt::format("{} arguments", words.size()),
                  "one file, a model and a PNG, or a command and its options", remedy);
  if (words.empty()) return run_window({.intro = intro});
  const std::string& path = words[0];
  if (!is_there(path) && !has_picture) {
    for (const Lesson& lesson : lessons())
      if (lesson.name == path) return run_window({.lesson = path});
    for (const Preset& preset : presets())
      if (preset.name == path) return run_window({.preset = path});
  }
  if (path.empty()) refuse_option("", "the name of the file is empty", "", "a file or folder", remedy);
  if (path.starts_with('-') && !only_files)
    refuse_option("", "there is no such option", path, "--help, --version or a command", remedy);
  require_reachable(path, names_scenario(path) ? ExitStatus::usage : ExitStatus::input);
  if (!is_there(path))
    throw Error(is_array_file(path) ? ExitStatus::input : ExitStatus::usage,
                {"", "there is no such command, file, preset or lesson", path,
                 is_builtin(path) ? join(builtin_folders(), " or ") : "", remedy});
  return run_window(
      {.path = path, .picture = has_picture ? std::optional<std::string>(words[1]) : std::nullopt});
}

// help COMMAND, which is COMMAND --help.
int help_of(const Words& words) {
  for (const Subcommand& command : subcommands()) {
    if (command.name != words[1] || words.size() > 2) continue;
    run_subcommand(command, {"--help"});
    return 0;
  }
  const bool many = words.size() > 2;
  const std::string meant = many ? "" : nearest_command(words[1]);
  refuse_option("help", many ? "too many arguments" : "there is no such command", many ? words[2] : words[1],
                join(command_names(), ", "), meant.empty() ? "" : fmt::format("did you mean \"{}\"?", meant));
}

int dispatch(const Words& words) {
  const std::string first = words.empty() ? "" : words[0];
  const auto is_help = [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "help";
  };
  if (first == "help" && words.size() > 1 && !is_help(words[1])) return help_of(words);
  if (is_help(first)) {
    print(overview());
    return 0;
  }
  if (first == "--") return open_window(Words(words.begin() + 1, words.end()), true);
  if (first == "--version") {
    print(fmt::format("headwise {}\n", version()));
    return 0;
  }
  for (const Subcommand& command : subcommands()) {
    if (command.name != first) continue;
    run_subcommand(command, Words(words.begin() + 1, words.end()));
    return 0;
  }
  return open_window(words);
}

int status(ExitStatus status) {
  return static_cast<int>(status);
}

constexpr const char* too_large = "this does not fit in memory; choose smaller sizes";

}  // namespace

std::span<const Subcommand> subcommands() {
  return commands;
}

void refuse_option(const std::string& option, const std::string& what, const std::string& got,
                   const std::string& expected, const std::string& remedy) {
  throw Error(ExitStatus::usage, {option, what, got, expected, remedy});
}

Theme theme_of(const std::string& word) {
  if (const std::optional<Theme> theme = find_theme(word)) return *theme;
  refuse_option("--theme", "there is no such theme", word, "light, dark or projector");
}

long long integer_of(const std::string& option, const std::string& word) {
  return whole_word<long long>(option, word, "a whole number");
}

double number_of(const std::string& option, const std::string& word) {
  return whole_word<double>(option, word, "a finite number");
}

int run_command_line(int argc, char** argv) {
  keep_standard_descriptors();
  set_signals();
  offer_trained_models();
  try {
    return dispatch(Words(argv + std::min(argc, 1), argv + argc));
  } catch (const Error& error) {
    print_error(error.what());
    return status(error.status());
  } catch (const std::bad_alloc&) {
    print_error(too_large);
    return status(ExitStatus::memory);
  } catch (const std::length_error&) {
    print_error(too_large);
    return status(ExitStatus::memory);
  } catch (const std::filesystem::filesystem_error& error) {
    std::error_code gone;
    static_cast<void>(std::filesystem::current_path(gone));
    print_error(gone ? "the working folder no longer exists: change to another folder" : error.what());
    return status(gone ? ExitStatus::usage : ExitStatus::input);
  } catch (const std::system_error& error) {
    // A thread that cannot be started: its stack is memory too.
    const bool memory = error.code() == std::errc::resource_unavailable_try_again ||
                        error.code() == std::errc::not_enough_memory;
    print_error(memory ? too_large : std::string("internal error: ") + error.what());
    return status(memory ? ExitStatus::memory : ExitStatus::usage);
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what());
    return status(ExitStatus::usage);
  }
}

}  // namespace headwise
