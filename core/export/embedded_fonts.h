// The font files inside the program (DejaVu, TrueType), so that text looks the same on every machine and in
// every file.
#pragma once

#include <span>

namespace headwise::embedded {

std::span<const unsigned char> dejavu_sans();
std::span<const unsigned char> dejavu_sans_bold();
std::span<const unsigned char> dejavu_sans_mono();

}  // namespace headwise::embedded
