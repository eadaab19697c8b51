// doctest, and what it lacks: checks of a part of a text, which show both where they fail, and of refusals.
#pragma once

#include <doctest/doctest.h>

#include <ostream>
#include <string>

#include "core/tensor/error.h"

namespace headwise::test {

// A text and a part of it, of any bytes, for CHECK_CONTAINS and CHECK_LACKS.
struct Whole {
  std::string text;
};
struct Part {
  std::string text;
  friend bool operator==(const Whole& whole, const Part& part) {
    return whole.text.find(part.text) != std::string::npos;
  }
};
inline std::ostream& operator<<(std::ostream& out, const Whole& whole) {
  return out << whole.text;
}
inline std::ostream& operator<<(std::ostream& out, const Part& part) {
  return out << "a text with \"" << part.text << '"';
}

// The one line with which `make` is refused; empty where it is not.
template <class F>
std::string refusal_line(const F& make, ExitStatus status = ExitStatus::input) {
  try {
    make();
  } catch (const Error& error) {
    CHECK(error.status() == status);
    std::string line = error.what();
    CHECK(line.find('\n') == std::string::npos);
    return line;
  }
  return "";
}

}  // namespace headwise::test

#define CHECK_CONTAINS(text, part) \
  CHECK(headwise::test::Whole{std::string(text)} == headwise::test::Part{std::string(part)})
#define CHECK_LACKS(text, part) \
  CHECK(headwise::test::Whole{std::string(text)} != headwise::test::Part{std::string(part)})
