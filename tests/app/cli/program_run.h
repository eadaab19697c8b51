// Runs the built program as a process and keeps all that comes out of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace headwise {

struct ProgramResult {
  int status = -1;  // exit status; 128 + signal where one ended it
  std::string out, err;
};

struct ProgramOptions {
  std::string folder;                // working folder; empty: this process's
  std::function<void()> in_child;    // called between fork and exec: limits, closed descriptors
  std::function<void(int)> in_test;  // called with the process's number while it runs
  std::string program = {};          // the file that is started; empty: the one that was built
};

// The program is killed after a minute: what hangs fails.
ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options = {});

// Whether `err` is one line that begins with "headwise: ".
bool is_one_line(const std::string& err);

// Checks that the program refuses these words with this exit status, nothing on standard output,
// and one line that has `part`.
void check_refused(const std::vector<std::string>& words, int status, const std::string& part,
                   const ProgramOptions& options = {});

}  // namespace headwise
