#include "core/picture/number_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

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

}  // namespace

std::string decimal_text(double value, int decimals) {
  if (!std::isfinite(value)) return not_finite(value);
  const double magnitude = std::abs(value);
  if (magnitude != 0.0 && (magnitude < 0.5 * std::pow(10.0, -decimals) || magnitude >= 1e7)) {
    return with_minus_sign(fmt::format("{:.2g}", value));
  }
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

}  // namespace headwise
