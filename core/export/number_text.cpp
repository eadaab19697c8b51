#include "core/export/number_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/export/font.h"
#include "core/export/plane_rule.h"

namespace headwise {
namespace {

std::string with_minus_sign(std::string text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 3) text.replace(at, 1, "−");
  return text;
}

std::string not_finite(double value) {
  return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "−∞";
}

// Without the minus sign if a number is rounded to zero.
std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

constexpr double least_size = 8.0;       // pixels; smaller digits of DejaVu Sans Mono run together
constexpr double share_of_height = 0.4;  // of a cell

bool is_whole(DType dtype) {
  return dtype == DType::boolean || dtype == DType::i64;
}

// Width of the widest number in ems: all glyphs of the mono face have the same width, so glyphs are counted.
double widest(const HeatmapSpec& spec, const CellDigits& digits) {
  std::ptrdiff_t glyphs = 0;
  for (Index row = 0; row < spec.values.rows; ++row) {
    for (Index col = 0; col < spec.values.cols; ++col) {
      const CellKind kind = cell_kind(spec, row, col);
      if (kind != CellKind::value && kind != CellKind::blocked_value) continue;
      const std::string text = cell_text(spec.values.value(row, col), digits);
      const auto begins_glyph = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
      glyphs = std::max(glyphs, std::count_if(text.begin(), text.end(), begins_glyph));
    }
  }
  return static_cast<double>(glyphs) * text_width("0", FontFace::mono, 1.0);
}

}  // namespace

std::string decimal_text(double value, int decimals) {
  if (!std::isfinite(value)) return not_finite(value);
  const double magnitude = std::abs(value);
  if (magnitude != 0.0 && (magnitude < 0.5 * std::pow(10.0, -decimals) || magnitude >= 1e7))
    return with_minus_sign(fmt::format("{:.2g}", value));
  return with_minus_sign(fixed(value, decimals));
}

int cell_decimals(ValueRange range) {
  const double largest = std::max(std::abs(range.lo), std::abs(range.hi));
  if (largest == 0.0) return 0;
  if (largest >= 100.0) return two_digits;
  if (largest >= 3.0) return 1;
  if (largest >= 0.05) return 2;
  return largest >= 0.005 ? 3 : exponents;
}

int fewer_cell_decimals(ValueRange range) {
  const int most = cell_decimals(range);
  if (most == 2) return 1;
  return most == 1 && std::max(std::abs(range.lo), std::abs(range.hi)) >= 10.0 ? two_digits : most;
}

std::string cell_number(double value, int decimals, bool probability) {
  if (!std::isfinite(value)) return not_finite(value);
  // 9.95 is written "9.9" or "10", never "10.0".
  if (decimals == two_digits) decimals = std::abs(value) < 9.95 ? 1 : 0;
  if (decimals == exponents) {
    std::string text = fmt::format("{:.0e}", value);
    if (value == 0.0) return "0";
    // "9e-04" as "9e-4".
    const std::size_t digits = text.find('e') + 2;
    text.erase(digits, std::min(text.find_first_not_of('0', digits), text.size() - 1) - digits);
    if (text[digits - 1] == '+') text.erase(digits - 1, 1);
    return with_minus_sign(std::move(text));
  }
  if (std::abs(value) >= 1e5) return with_minus_sign(fmt::format("{:.0e}", value));
  std::string text = fixed(value, decimals);
  // ".25", and "1.0" for one: the same number of characters.
  if (probability && text.starts_with("0.")) text.erase(0, 1);
  if (probability && decimals > 1 && text.starts_with("1.0")) text.pop_back();
  return with_minus_sign(std::move(text));
}

std::string cell_text(double value, const CellDigits& digits) {
  std::string text = digits.scientific ? fmt::format("{:.{}e}", value, digits.decimals)
                                       : fmt::format("{:.{}f}", value, digits.decimals);
  if (text.find_first_of("123456789") == std::string::npos)
    text = fmt::format("{:.{}f}", 0.0, digits.decimals);
  if (!digits.leading_zero && digits.decimals > 0) {
    if (text.starts_with("0.")) text.erase(0, 1);
    if (text.starts_with("-0.")) text.erase(1, 1);
  }
  if (const std::size_t e = text.find('e'); e != std::string::npos) {
    // "1.2e-07" as "1.2e−7", "3e+05" as "3e5".
    const std::size_t first = std::min(text.find_first_not_of("+-0", e + 1), text.size() - 1);
    text = text.substr(0, e + 1) + (text[e + 1] == '-' ? "−" : "") + text.substr(first);
  }
  if (text.front() == '-') text.replace(0, 1, "−");
  return text;
}

std::string blocked_text(const HeatmapSpec& spec, double value) {
  if (value == 0.0 && spec.blocked_at != 0.0) return {};
  if (spec.blocked_at == std::numeric_limits<double>::infinity()) return {};  // any number
  const int decimals = value == std::round(value) ? 0 : two_digits;
  return cell_number(value, std::abs(value) >= 1000.0 ? exponents : decimals, false);
}

std::optional<CellDigits> cell_digits(const HeatmapSpec& spec, const HeatmapContents& contents,
                                      double cell_width, double cell_height) {
  const MatrixView& values = spec.values;
  if (!spec.digits || !contents.finite() || values.rows * values.cols > most_cells_with_digits)
    return std::nullopt;
  if (std::min(cell_width, cell_height) < least_size) return std::nullopt;
  const auto fitted = [&](CellDigits digits) -> std::optional<CellDigits> {
    const double breathing = std::max(3.0, 0.1 * cell_width);  // pixels, the gap included
    const double width = widest(spec, digits);
    digits.size = std::min(share_of_height * cell_height, (cell_width - breathing) / width);
    // In a large cell a number takes at least half the size it could have: rather one decimal fewer.
    const double least = std::max(least_size, 0.22 * std::min(cell_height, cell_width));
    return digits.size >= least ? std::optional(digits) : std::nullopt;
  };

  const double largest = std::max(std::abs(contents.min), std::abs(contents.max));
  if (largest == 0.0 || (is_whole(values.tensor->dtype()) && largest < 1e15))
    return fitted({0, false, true, 0.0});
  const int magnitude = static_cast<int>(std::floor(std::log10(largest)));
  if (magnitude >= -3 && magnitude < 7) {
    const int most = magnitude >= 0 ? std::max(0, 2 - magnitude) : 1 - magnitude;
    const int least = std::max(0, magnitude > 0 ? 0 : 1 - magnitude);
    for (int decimals = most; decimals >= least; --decimals) {
      for (const bool leading_zero : {true, false}) {
        if (!leading_zero && (largest >= 1.0 || decimals == 0)) continue;
        if (const auto digits = fitted({decimals, false, leading_zero, 0.0})) return digits;
      }
    }
    return std::nullopt;
  }
  for (const int decimals : {1, 0})
    if (const auto digits = fitted({decimals, true, true, 0.0})) return digits;
  return std::nullopt;
}

}  // namespace headwise
