// doctest, and what it lacks: checks of a part of a text, which show both where they fail, and of refusals.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/tensor/error.h"

namespace headwise::test {

inline doctest::String shown(std::string_view text) {
  return {text.data(), static_cast<unsigned>(text.size())};
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
  CHECK(headwise::test::shown(text) == doctest::Contains(headwise::test::shown(part)))
#define CHECK_LACKS(text, part) \
  CHECK(headwise::test::shown(text) != doctest::Contains(headwise::test::shown(part)))
