// Somebody who does anything: clicks, drags, types, presses the keys of every command, resizes. What comes
// next depends on the seed and on what the last frame has drawn, so that a walk can be walked again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/app/ui_driver.h"

namespace headwise {

class RandomPerson {
 public:
  // `files`: what may be dropped on the window, or typed as a path.
  RandomPerson(std::uint64_t seed, std::vector<std::string> files);

  // Does one thing, and says what it was.
  std::string act(UiDriver& ui);

  // In [0, count); count > 0.
  std::size_t number(std::size_t count);

 private:
  struct Place {
    double x = 0, y = 0;
    std::string name;
  };
  Place place(const UiDriver& ui);

  std::string press_command(UiDriver& ui);
  std::string press_key(UiDriver& ui);
  std::string type(UiDriver& ui);
  std::string use_mouse(UiDriver& ui);
  std::string change_window(UiDriver& ui);
  std::string let_time_pass(UiDriver& ui);

  std::uint64_t state_;
  std::vector<std::string> files_;
};

}  // namespace headwise
