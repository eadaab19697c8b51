#include "app/cli/command_options.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/standard_streams.h"
#include "core/scenario/run_record.h"
#include "core/tensor/error.h"

namespace headwise {

PixelSize pixel_size_of(const std::string& word, int least, int largest, const std::string& example) {
  PixelSize size;
  const char* end = word.data() + word.size();
  const auto width = std::from_chars(word.data(), end, size.width);
  const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  const auto height = cross ? std::from_chars(width.ptr + 1, end, size.height) : width;
  const auto sensible = [&](int side) { return side >= least && side <= largest; };
  if (!cross || height.ec != std::errc() || height.ptr != end || !sensible(size.width) ||
      !sensible(size.height)) {
    refuse_option("--size", "the value is wrong", word,
                  fmt::format("WIDTHxHEIGHT in pixels, {} … {} each", least, largest), "e.g. " + example);
  }
  return size;
}

namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& option, const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (is_array_file(at->path().string())) files.push_back(at->path().string());
  if (files.empty())
    throw Error(ExitStatus::input, {.where = fmt::format("{}: {}", option, folder),
                                    .what = error ? "the folder cannot be read" : "the folder has no arrays",
                                    .got = error ? error.message() : "",
                                    .expected = ".npy, .npz or .safetensors files in it"});
  std::ranges::sort(files);
  return files;
}

[[noreturn]] void refuse_pipe(const std::string& where, const std::string& what, const std::string& got,
                              const std::string& expected = "") {
  throw Error(ExitStatus::input, {.where = where, .what = what, .got = got, .expected = expected});
}

// Arrays are read where they lie in a file, in any order: a pipe is copied first. The descriptor stays open,
// so that its path under /proc names the copy.
std::string copy_of_pipe(const std::string& where, int pipe) {
  constexpr std::size_t most_bytes = std::size_t{4} << 30;
  const int copy = memfd_create("headwise", MFD_CLOEXEC);
  if (copy < 0) refuse_pipe(where, "the pipe cannot be copied", std::strerror(errno));
  std::string block(std::size_t{1} << 20, '\0'), beginning;
  std::size_t total = 0;
  while (true) {
    const ssize_t count = read(pipe, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_pipe(where, "the pipe cannot be read", std::strerror(errno));
    if (count == 0) break;
    if (beginning.size() < 8)
      beginning += block.substr(0, std::min<std::size_t>(8, static_cast<std::size_t>(count)));
    total += static_cast<std::size_t>(count);
    if (total > most_bytes)
      refuse_pipe(where, "the pipe has too much", "", "at most 4 GiB; write a file first");
    for (std::size_t done = 0; done < static_cast<std::size_t>(count);) {
      const ssize_t wrote = write(copy, block.data() + done, static_cast<std::size_t>(count) - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0)
        throw Error(ExitStatus::memory, {.where = where, .what = "the pipe does not fit in memory"});
      done += static_cast<std::size_t>(wrote);
    }
  }
  if (total == 0) refuse_pipe(where, "the pipe is empty", "", "an .npz or a .safetensors file");
  if (beginning.starts_with("\x93NUMPY"))
    refuse_pipe(where, "an .npy from a pipe has no name for its array", "", "an .npz or a .safetensors file");
  return fmt::format("/proc/self/fd/{}", copy);
}

bool is_pipe(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

// The files that the words of `option` name: a file itself; a folder's .npy, .npz and .safetensors files,
// sorted by name; of a pipe, as "-" or <(program), a copy in memory, which lives as long as the process.
// Throws Error(input): a folder without such files, a pipe of more than 4 GiB or of an .npy, whose array has
// no name there; Error(memory).
std::vector<std::string> array_paths(const std::string& option, const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  std::error_code missing;
  for (const std::string& word : words) {
    if (word == standard_stream) {
      paths.push_back(copy_of_pipe(option + ": standard input", STDIN_FILENO));
    } else if (is_pipe(word)) {
      const int pipe = open(word.c_str(), O_RDONLY | O_CLOEXEC);
      if (pipe < 0)
        refuse_pipe(fmt::format("{}: {}", option, word), "the pipe cannot be read", std::strerror(errno));
      paths.push_back(copy_of_pipe(fmt::format("{}: {}", option, word), pipe));
      close(pipe);
    } else if (fs::is_directory(word, missing)) {
      std::ranges::move(files_of(option, word), std::back_inserter(paths));
    } else {
      paths.push_back(word);
    }
  }
  return paths;
}

void shape(CLI::Option& option, const OptionForm& form) {
  if (!form.type.empty()) option.type_name(form.type);
  if (form.required) option.required();
  if (form.shows_default) option.capture_default_str();
  if (form.least != 0 || form.most != 0) option.check(CLI::Range(form.least, form.most));
}

void shape_list(CLI::Option& option, const OptionForm& form) {
  shape(option, form);
  if (form.delimiter != '\0') option.delimiter(form.delimiter);
  if (!form.several_words) option.allow_extra_args(false);
}

// CLI11's message for an option with too many, too few or wrong values, reworded as ours: "--output: At Most
// 1 required but received 2", "--output: 1 required FILE missing".
ErrorParts parts_of(const std::string& message, const std::string& command, const std::string& remedy) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string::npos) return {command, message, "", "", remedy};
  const std::string option = message.substr(0, colon);
  constexpr std::string_view often = ": At Most 1 required but received ", none = ": 1 required ",
                             end = " missing";
  if (message.find(often) == colon)
    return {fmt::format("{}: {}", command, option), "the option is given more than once",
            fmt::format("{} times", message.substr(colon + often.size())), "once", remedy};
  if (message.find(none) == colon && message.ends_with(end)) {
    const std::size_t from = colon + none.size();
    return {fmt::format("{}: {}", command, option), "its value is missing", "",
            message.substr(from, message.size() - from - end.size()), remedy};
  }
  // "--repeat: Value 0 not in range 1 to 10000"
  constexpr std::string_view value = ": Value ", range = " not in range ";
  if (const std::size_t at = message.find(range); message.find(value) == colon && at != std::string::npos)
    return {fmt::format("{}: {}", command, option), "the value is out of range",
            message.substr(colon + value.size(), at - colon - value.size()),
            message.substr(at + range.size()), remedy};
  return {command, message, "", "", remedy};
}

// A file without a name, and a list of names without a name.
void refuse_empty(const CLI::Option& option, const std::string& command, const std::string& remedy) {
  if (option.count() == 0) return;
  const std::string type = option.get_type_name();
  const bool names_file = option.get_positional() || type.find("FILE") != std::string::npos ||
                          type.find("FOLDER") != std::string::npos;
  const bool list = option.get_delimiter() != '\0';
  const CLI::results_t& values = option.results();
  const bool empty = std::ranges::find(values, "") != values.end() || (list && values.empty());
  if (empty && (names_file || list))
    refuse_option(fmt::format("{}: {}", command, option.get_name()), "a name is empty", "",
                  list ? "names separated by commas" : "a name", remedy);
}

}  // namespace

struct CommandOptions::Parser {
  Parser(std::string_view name, std::string_view what) : app(std::string(what), std::string(name)) {}
  CLI::App app;
  std::vector<std::pair<std::string, Words*>> arrays;  // options that name array files
};

CommandOptions::CommandOptions(std::string_view name, std::string_view what, std::string_view examples)
    : parser_(std::make_unique<Parser>(name, what)) {
  parser_->app.footer("Examples:\n" + std::string(examples));
}

CommandOptions::~CommandOptions() = default;

void CommandOptions::flag(const std::string& names, bool& value, const std::string& what,
                          const std::string& needs) {
  CLI::Option* const option = parser_->app.add_flag(names, value, what);
  if (!needs.empty()) option->needs(needs);
}

void CommandOptions::value(const std::string& names, std::string& value, const std::string& what,
                           const OptionForm& form) {
  shape(*parser_->app.add_option(names, value, what), form);
}

void CommandOptions::value(const std::string& names, int& value, const std::string& what,
                           const OptionForm& form) {
  shape(*parser_->app.add_option(names, value, what), form);
}

void CommandOptions::values(const std::string& names, std::vector<std::string>& values,
                            const std::string& what, const OptionForm& form) {
  shape_list(*parser_->app.add_option(names, values, what), form);
  if (form.arrays) parser_->arrays.emplace_back(names, &values);
}

void CommandOptions::values(const std::string& names, std::vector<int>& values, const std::string& what,
                            const OptionForm& form) {
  shape_list(*parser_->app.add_option(names, values, what), form);
}

bool CommandOptions::parse(const Words& words) {
  CLI::App& app = parser_->app;
  const std::string remedy = fmt::format("see headwise {} --help", app.get_name());
  app.allow_extras();
  bool quiet = false, verbose = false;
  app.add_flag("-q,--quiet", quiet, "Print no progress, notes and warnings on stderr, only errors");
  app.add_flag("-v,--verbose", verbose, "Print on stderr what is read, computed and written, and when");
  for (const std::string& word : words)  // CLI11 would take the next word instead
    if (!word.empty() && word.find_first_not_of(',') == std::string::npos)
      refuse_option(app.get_name(), "a name is empty", word, "names separated by commas", remedy);
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 expects them in reverse order
  } catch (const CLI::CallForHelp&) {
    print(app.help("headwise"));
    return false;
  } catch (const CLI::ParseError& error) {
    throw Error(ExitStatus::usage, parts_of(error.what(), app.get_name(), remedy));
  }
  if (quiet && verbose)
    refuse_option(app.get_name(), "--quiet and --verbose exclude each other", "both", "one of the two", remedy);
  set_talk(quiet ? Talk::quiet : verbose ? Talk::verbose : Talk::usual);
  for (const CLI::Option* const option : app.get_options()) refuse_empty(*option, app.get_name(), remedy);
  bool behind_dashes = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--" && !std::exchange(behind_dashes, true)) continue;  // CLI11 keeps the mark
    const char* what = word.starts_with('-') ? "there is no such option" : "unexpected argument";
    refuse_option(app.get_name(), what, word, "", remedy);
  }
  for (const auto& [option, paths] : parser_->arrays) *paths = array_paths(option, *paths);
  return true;
}

bool CommandOptions::given(const std::string& name) const {
  return parser_->app.count(name) > 0;
}

std::string CommandOptions::given_option_outside(const std::vector<std::string>& names) const {
  for (const CLI::Option* const option : parser_->app.get_options())
    if (option->count() > 0 && std::ranges::find(names, option->get_name()) == names.end())
      return option->get_name();
  return "";
}

}  // namespace headwise
