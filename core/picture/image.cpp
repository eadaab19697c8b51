#include "core/picture/image.h"

#include <fmt/format.h>

#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {

void check_image_size(double width, double height) {
  if (!(width <= max_image_side && height <= max_image_side)) {
    throw Error(ExitStatus::usage,
                {"picture", "it is too large", fmt::format("{:.0f}×{:.0f} pixels", width, height),
                 fmt::format("at most {} a side", max_image_side), "take fewer pixels a cell, also below 1"});
  }
  require_memory(static_cast<Index>(4.0 * width * height), "the picture");
}

}  // namespace headwise
