// Tests that need OpenGL say aloud that they are skipped where there is none. In CI, where all of it is
// installed, that is a failure: hundreds of tests would be green without having run.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace headwise::test {

inline void say_skipped(const std::string& why) {
  const char* ci = std::getenv("CI");
  if (ci && std::string_view(ci) == "true")
    FAIL_CHECK("in CI no test is skipped: ", why);
  else
    MESSAGE("SKIPPED: ", why);
}

}  // namespace headwise::test

// Declares what the rest of a test needs, and ends the test where that is not there, which has said so aloud.
#define OPEN_OR_SKIP(name, ...) \
  auto name = __VA_ARGS__;      \
  if (!name) return
