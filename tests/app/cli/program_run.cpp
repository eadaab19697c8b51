#include "tests/app/cli/program_run.h"
#include "tests/checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "tests/core/files/temporary_folder.h"

namespace headwise {

ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options) {
  const TemporaryFolder streams;
  const std::string out = streams.file("out"), err = streams.file("err");
  const std::string program = options.program.empty() ? HEADWISE_PROGRAM : options.program;
  std::vector<std::string> copies{program};
  copies.insert(copies.end(), words.begin(), words.end());
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

void check_refused(const std::vector<std::string>& words, int status, const std::string& part,
                   const ProgramOptions& options) {
  CAPTURE(fmt::format("{}", fmt::join(words, " ")));
  const ProgramResult result = run_program(words, options);
  CAPTURE(result.err);
  CHECK(result.status == status);
  CHECK(result.out.empty());
  CHECK(is_one_line(result.err));
  CHECK_CONTAINS(result.err, part);
}

}  // namespace headwise
