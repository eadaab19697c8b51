#include "app/cli/command_line.h"

#include <fmt/format.h>

namespace headwise {

int run_command_line(int, char**) {
  fmt::print("headwise {}\n", HEADWISE_VERSION);
  return 0;
}

}  // namespace headwise
