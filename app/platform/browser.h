// The system's web browser.
#pragma once

#include <string>

namespace headwise {

// The program that opens a page: $BROWSER, x-www-browser or xdg-open, the first of them that PATH has; empty where there is none.
std::string browser_program();

// Starts it with the file, and returns at once. False where it could not be started.
bool open_in_browser(const std::string& program, const std::string& file);

}  // namespace headwise
