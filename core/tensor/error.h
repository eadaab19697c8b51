// The one kind of exception that Headwise throws on purpose. It carries the exit status of the command line
// and one line of text: where, what, got, expected, remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace headwise {

enum class ExitStatus {
  done = 0,
  differs = 1,  // `compare` found a difference
  usage = 2,    // the command line or the scenario is wrong
  input = 3,    // an input file is wrong, or its arrays disagree with the scenario
  output = 4,   // the output could not be written
  memory = 5,   // it would not fit in memory
  cancelled = 6,
  no_display = 7,  // no usable GPU or display
};

// Empty parts are left out of the line. Control characters are escaped, so it stays one line, and each part
// is cut at 300 bytes, the remedy at 700, so a hostile file cannot flood a terminal.
struct ErrorParts {
  std::string where{};     // file, key or tensor: "scenario.json: attention.num_heads"
  std::string what{};      // what is wrong: "num_heads must divide embed_dim"
  std::string got{};       // "num_heads = 7, embed_dim = 128"
  std::string expected{};  // "a divisor of 128"
  std::string remedy{};    // "set attention.head_dim to choose the head width freely"
};

class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const ErrorParts& parts);
  ExitStatus status() const { return status_; }
  // what() without its remedy, for an error that has a better one.
  std::string without_remedy() const { return std::string(what()).substr(0, remedy_begin_); }

 private:
  ExitStatus status_;
  std::size_t remedy_begin_;
};

// `text` on one line: control characters escaped as \n or \x1b, bytes that are not UTF-8 as \xNN, cut at
// `max_bytes` on a character boundary and followed by "…".
std::string one_line(const std::string& text, std::size_t max_bytes = 300);

}  // namespace headwise
