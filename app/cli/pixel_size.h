// A size in pixels, as the command line writes it: 1600x1000.
#pragma once

#include <string>

namespace headwise {

struct PixelSize {
  int width = 0, height = 0;
};

// The argument of --size. Throws Error(usage), with `example`, if it is not a size or a side is outside [least, largest].
PixelSize pixel_size_of(const std::string& word, int least, int largest, const std::string& example);

}  // namespace headwise
