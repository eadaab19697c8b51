#include "app/cli/pixel_size.h"

#include <fmt/format.h>

#include <charconv>

#include "core/tensor/error.h"

namespace headwise {

PixelSize pixel_size_of(const std::string& word, int least, int largest, const std::string& example) {
  PixelSize size;
  const char* end = word.data() + word.size();
  const auto width = std::from_chars(word.data(), end, size.width);
  const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  const auto height = cross ? std::from_chars(width.ptr + 1, end, size.height) : width;
  const auto sensible = [&](int side) { return side >= least && side <= largest; };
  if (!cross || height.ec != std::errc() || height.ptr != end || !sensible(size.width) ||
      !sensible(size.height)) {
    throw Error(ExitStatus::usage,
                {"--size", "the value is wrong", word,
                 fmt::format("WIDTHxHEIGHT in pixels, {} … {} each", least, largest), "e.g. " + example});
  }
  return size;
}

}  // namespace headwise
