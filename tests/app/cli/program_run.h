// Runs the built program as a process and keeps all that comes out of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

using Words = std::vector<std::string>;
// The words of all, one after the other; and "--set" before each of these.
Words joined(std::initializer_list<Words> parts);
Words with_settings(const Words& settings);

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
ProgramResult run_program(const Words& words, const ProgramOptions& options = {});

// Whether `err` is one line that begins with "headwise: ".
bool is_one_line(const std::string& err);

// The same; fails the test where its exit status is not 0.
ProgramResult run_well(const Words& words, const ProgramOptions& options = {});
// The same; checks that the program refuses these words with this exit status, nothing on standard output,
// and one line that has `part`.
ProgramResult check_refused(const Words& words, int status, const std::string& part,
                            const ProgramOptions& options = {});

// The arrays of a file, by name.
std::map<std::string, TensorPtr> arrays_of(const std::string& path);
// Four bytes as a number, as PNG writes them.
std::uint32_t big_endian(const std::string& bytes, std::size_t at);

}  // namespace headwise
