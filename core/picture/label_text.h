// Makes text from any source (tokens, file names) fit to be drawn on one line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/picture/font.h"

namespace headwise {

// The text with every byte that is not UTF-8, and every NUL, replaced by U+FFFD; otherwise unchanged.
std::string valid_utf8(const std::string& text);

// These code points, as UTF-8.
std::string utf8_text(std::span<const char32_t> codes);

// Valid UTF-8 (NFC) on one line: controls and line separators escaped as \n, \x1b or \u{2028}, bytes that are
// not UTF-8 and noncharacters as U+FFFD, bidirectional controls dropped (they would reorder the text around
// them). The result is also valid in XML once &, < and > are escaped. Idempotent.
std::string printable(const std::string& text);

// printable(text), cut between two grapheme clusters and ended with "…" if it is wider than max_width pixels;
// empty if not even "…" fits.
std::string shorten(const std::string& text, FontFace face, double size, double max_width);

// The code points in painting order, from left to right: runs of right-to-left letters reversed, clusters
// kept together. A subset of the Unicode bidirectional algorithm for one line that reads left to right;
// letters are not joined.
std::vector<char32_t> visual_order(const std::string& printable_text);

}  // namespace headwise
