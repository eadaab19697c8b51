#include "tests/app/cli/program_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "core/files/array_files.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

namespace headwise {

Words joined(std::initializer_list<Words> parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Words with_settings(const Words& settings) {
  Words words;
  for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
  return words;
}

ProgramResult run_program(const Words& words, const ProgramOptions& options) {
  const TemporaryFolder streams;
  const std::string out = streams.file("out"), err = streams.file("err");
  const std::string program = options.program.empty() ? HEADWISE_PROGRAM : options.program;
  Words copies = joined({{program}, words});
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int started[2];  // closed in the child as soon as it has become the program
  REQUIRE(pipe2(started, O_CLOEXEC) == 0);
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(99);
    alarm(60);
    if (options.in_child) options.in_child();
    execv(program.c_str(), arguments.data());
    _exit(98);
  }
  close(started[1]);
  char nothing;
  REQUIRE(read(started[0], &nothing, 1) == 0);
  close(started[0]);
  if (options.in_test) options.in_test(process);
  int status = 0;
  REQUIRE(waitpid(process, &status, 0) == process);
  ProgramResult result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = content_of(out);
  result.err = content_of(err);
  return result;
}

bool is_one_line(const std::string& err) {
  return err.starts_with("headwise: ") && err.ends_with('\n') && std::ranges::count(err, '\n') == 1;
}

ProgramResult run_well(const Words& words, const ProgramOptions& options) {
  CAPTURE(fmt::format("{}", fmt::join(words, " ")));
  ProgramResult result = run_program(words, options);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  return result;
}

ProgramResult check_refused(const Words& words, int status, const std::string& part,
                            const ProgramOptions& options) {
  CAPTURE(fmt::format("{}", fmt::join(words, " ")));
  ProgramResult result = run_program(words, options);
  CAPTURE(result.err);
  CHECK(result.status == status);
  CHECK(result.out.empty());
  CHECK(is_one_line(result.err));
  CHECK_CONTAINS(result.err, part);
  return result;
}

std::map<std::string, TensorPtr> arrays_of(const std::string& path) {
  std::map<std::string, TensorPtr> arrays;
  for (const NamedTensor& array : read_array_file(path)) arrays[array.name] = array.tensor;
  return arrays;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

}  // namespace headwise
