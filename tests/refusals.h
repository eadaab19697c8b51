// Refusals, held against what they have to say.
#pragma once

#include <string>
#include <vector>

#include "tests/checks.h"

namespace headwise::test {

// `make` is refused, in one line that has all of these parts. Returns the line.
template <class F>
std::string refused_with(const F& make, const std::vector<std::string>& parts,
                         ExitStatus status = ExitStatus::input) {
  const std::string line = refusal_line(make, status);
  CHECK_FALSE(line.empty());
  for (const std::string& part : parts) CHECK_CONTAINS(line, part);
  return line;
}

}  // namespace headwise::test
