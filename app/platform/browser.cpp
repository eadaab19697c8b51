#include "app/platform/browser.h"

#include <unistd.h>

#include <cstdlib>

#include "app/platform/desktop_program.h"

namespace headwise {

std::string browser_program() {
  const char* chosen = std::getenv("BROWSER");
  const std::string wanted = chosen ? chosen : "";
  if (wanted.starts_with('/') && access(wanted.c_str(), X_OK) == 0) return wanted;
  for (const std::string& name : {wanted, std::string("x-www-browser"), std::string("xdg-open")}) {
    if (name.empty()) continue;
    if (const auto path = find_program(name)) return *path;
  }
  return "";
}

bool open_in_browser(const std::string& program, const std::string& file) {
  return start_program({program, file});
}

}  // namespace headwise
