#include "core/export/label_text.h"

#include <fmt/format.h>
#include <utf8proc.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <span>

#include "core/export/font.h"

namespace headwise {
namespace {

constexpr char32_t replacement = 0xFFFD;

// The code points of well-formed parts; every byte that is not part of one becomes U+FFFD.
std::vector<char32_t> code_points(const std::string& text) {
  std::vector<char32_t> out;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes, left, &code);
    out.push_back(length > 0 ? static_cast<char32_t>(code) : replacement);
    bytes += std::max<utf8proc_ssize_t>(length, 1);
    left -= std::max<utf8proc_ssize_t>(length, 1);
  }
  return out;
}

std::string composed(const std::string& text) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length < 0) return text;
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length)};
}

bool is_bidi_control(char32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_noncharacter(char32_t code) {
  return (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
}

const utf8proc_property_t& property(char32_t code) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
}

// Where each grapheme cluster begins, and the end.
std::vector<std::size_t> cluster_starts(const std::vector<char32_t>& codes) {
  std::vector<std::size_t> starts;
  utf8proc_int32_t state = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (i == 0 || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(codes[i - 1]),
                                                   static_cast<utf8proc_int32_t>(codes[i]), &state)) {
      starts.push_back(i);
    }
  }
  starts.push_back(codes.size());
  return starts;
}

enum class Direction { left_to_right, right_to_left, neutral };

Direction writing_direction_of(char32_t code) {
  switch (property(code).bidi_class) {
    case UTF8PROC_BIDI_CLASS_R:
    case UTF8PROC_BIDI_CLASS_AL:
      return Direction::right_to_left;
    case UTF8PROC_BIDI_CLASS_L:
    case UTF8PROC_BIDI_CLASS_EN:
    case UTF8PROC_BIDI_CLASS_AN:
      return Direction::left_to_right;
    default:
      return Direction::neutral;
  }
}

constexpr double widest_label = 11.0;   // ems; a longer one ends in "…"
constexpr double between_labels = 0.7;  // ems of free space between labels side by side

// 1, 2, 5, 10, 20, 50 …
Index next_step(Index step) {
  Index decade = 1;
  while (step >= 10 * decade) decade *= 10;
  return step == 2 * decade ? 5 * decade : 2 * step;
}

Index step_for(double pitch, double needed) {
  Index step = 1;
  while (static_cast<double>(step) * pitch < needed) step = next_step(step);
  return step;
}

AxisLabels labels_at(const std::vector<std::string>& texts, Index count, Index step, double size,
                     double degrees) {
  AxisLabels out{{}, size, degrees, step, 0.0};
  for (Index index = 0; index < count; index += step) {
    const auto i = static_cast<std::size_t>(index);
    std::string text = i < texts.size() ? shorten(texts[i], FontFace::sans, size, widest_label * size)
                                        : std::to_string(index);
    out.widest = std::max(out.widest, text_width(text, FontFace::sans, size));
    out.labels.push_back({index, std::move(text)});
  }
  return out;
}

}  // namespace

std::string utf8_text(std::span<const char32_t> codes) {
  std::string out;
  for (const char32_t code : codes) {
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  }
  return out;
}

std::string valid_utf8(const std::string& text) {
  std::vector<char32_t> codes = code_points(text);
  std::replace(codes.begin(), codes.end(), U'\0', replacement);
  return utf8_text(codes);
}

std::string printable(const std::string& text) {
  std::string out;
  for (const char32_t code : code_points(text)) {
    if (code == U'\n') {
      out += "\\n";
    } else if (code == U'\t') {
      out += "\\t";
    } else if (code == U'\r') {
      out += "\\r";
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
    } else if (code == 0x2028 || code == 0x2029) {
      out += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(code));
    } else if (!is_bidi_control(code)) {
      const char32_t shown = is_noncharacter(code) ? replacement : code;
      out += utf8_text(std::span(&shown, 1));
    }
  }
  return composed(out);
}

std::string shorten(const std::string& text, FontFace face, double size, double max_width) {
  const std::string line = printable(text);
  if (text_width(line, face, size) <= max_width) return line;
  const std::vector<char32_t> codes = code_points(line);
  const std::vector<std::size_t> starts = cluster_starts(codes);
  const auto cut = [&](std::size_t clusters) {
    return utf8_text(std::span(codes).first(starts[clusters])) + "…";
  };
  // The largest number of clusters that fits: widths grow with it, so bisection finds it.
  if (text_width(cut(0), face, size) > max_width) return "";
  std::size_t fits = 0, too_many = starts.size() - 1;
  while (too_many - fits > 1) {
    const std::size_t middle = (fits + too_many) / 2;
    (text_width(cut(middle), face, size) <= max_width ? fits : too_many) = middle;
  }
  return cut(fits);
}

std::vector<char32_t> visual_order(const std::string& printable_text) {
  const std::vector<char32_t> codes = code_points(printable_text);
  const std::vector<std::size_t> starts = cluster_starts(codes);
  const std::size_t clusters = starts.size() - 1;
  const auto direction = [&](std::size_t cluster) { return writing_direction_of(codes[starts[cluster]]); };

  std::vector<char32_t> out;
  for (std::size_t i = 0; i < clusters;) {
    // A run from one right-to-left cluster to the last one with only neutral ones between.
    std::size_t end = i;
    if (direction(i) == Direction::right_to_left) {
      end = i + 1;
      for (std::size_t k = end; k < clusters && direction(k) != Direction::left_to_right; ++k)
        if (direction(k) == Direction::right_to_left) end = k + 1;
    }
    const auto append = [&](std::size_t cluster) {
      out.insert(out.end(), codes.begin() + static_cast<std::ptrdiff_t>(starts[cluster]),
                 codes.begin() + static_cast<std::ptrdiff_t>(starts[cluster + 1]));
    };
    if (end == i) {
      append(i++);
      continue;
    }
    for (std::size_t k = end; k > i; --k) append(k - 1);
    i = end;
  }
  return out;
}

AxisLabels row_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size) {
  return labels_at(texts, count, step_for(pitch, axis_line_height * size), size, 0.0);
}

AxisLabels column_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size) {
  const bool indices = texts.empty();
  // Horizontal, which is the most legible: a label for every cell, and numbers also thinned.
  for (Index step = 1;; step = next_step(step)) {
    AxisLabels level = labels_at(texts, count, step, size, 0.0);
    if (level.widest + between_labels * size <= static_cast<double>(step) * pitch || level.labels.size() <= 1)
      return level;
    if (!indices) break;
  }
  // Slanted lines are pitch · sin(slant) apart; steeper before thinner.
  for (const double degrees : {35.0, 60.0}) {
    const double apart = pitch * std::sin(degrees * std::numbers::pi / 180.0);
    if (apart >= axis_line_height * size) return labels_at(texts, count, 1, size, degrees);
  }
  const double degrees = 35.0;
  const Index step = step_for(pitch * std::sin(degrees * std::numbers::pi / 180.0), axis_line_height * size);
  return labels_at(texts, count, step, size, degrees);
}

}  // namespace headwise
