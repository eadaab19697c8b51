// What tests of edits through the window share: typing into a field, and comparing traces and pictures.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/app/window_bench.h"

namespace headwise {

// Checks that both have the same tensors with the same values.
inline void check_identical(const Trace& a, const Trace& b) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr x = a.tensor(entry.id), y = b.tensor(entry.id);
    INFO(entry.name);
    REQUIRE((x == nullptr) == (y == nullptr));
    if (x) CHECK(identical(*x, *y));
  }
}

// Replaces what stands in a field.
inline void type_into(WindowBench& bench, std::string_view field, std::string_view text) {
  bench.ui->click(field);
  bench.ui->key("Ctrl+A");
  if (text.empty()) bench.ui->key("Backspace");
  bench.ui->type(text);
}

// Part of the picture, as pixels.
inline std::vector<std::uint8_t> part(const WindowBench& bench, std::string_view name) {
  const UiRect rect = bench.ui->rect(name);
  const Image image = bench.ui->pixels();
  std::vector<std::uint8_t> pixels;
  for (int y = static_cast<int>(rect.min.y); y < static_cast<int>(rect.max.y); ++y) {
    const auto row = static_cast<std::ptrdiff_t>(4) * image.width * y;
    const auto begin = image.rgba.begin() + row + 4 * static_cast<std::ptrdiff_t>(rect.min.x);
    const auto end = image.rgba.begin() + row + 4 * static_cast<std::ptrdiff_t>(rect.max.x);
    pixels.insert(pixels.end(), begin, end);
  }
  return pixels;
}

}  // namespace headwise
