// Runs generated programs in a real Python, where there is one with what they need.
#pragma once

#include <string>
#include <vector>

namespace headwise::test {

// The interpreter that has all of `modules`: $HEADWISE_PYTHON, /usr/bin/python3, python3. Empty:
// there is none.
std::string python_with(const std::string& modules);

struct PythonProgram {
  std::string path;    // the .py
  std::string output;  // the .npz that it is told to write
};

// Runs all of them in one process, so that its imports are paid for once. Returns what went wrong, a line for
// each program that raised; empty where all ran.
std::string run_python_programs(const std::string& python, const std::vector<PythonProgram>& programs,
                                const std::string& folder);

}  // namespace headwise::test
