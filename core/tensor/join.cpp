#include "core/tensor/join.h"

#include <fmt/format.h>

#include <type_traits>

namespace headwise {
namespace {

template <class T>
std::string join_items(std::span<const T> items, std::string_view separator) {
  fmt::memory_buffer text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text.append(separator);
    if constexpr (std::is_integral_v<T>)
      text.append(fmt::format_int(items[i]));
    else if constexpr (std::is_floating_point_v<T>)
      text.append(fmt::format("{}", items[i]));
    else
      text.append(items[i]);
  }
  return fmt::to_string(text);
}

}  // namespace

std::string join(std::span<const std::string> items, std::string_view separator) {
  return join_items(items, separator);
}

std::string join(std::span<const std::string_view> items, std::string_view separator) {
  return join_items(items, separator);
}

std::string join(std::span<const long> items, std::string_view separator) {
  return join_items(items, separator);
}

std::string join(std::span<const double> items, std::string_view separator) {
  return join_items(items, separator);
}

std::string join(std::span<const int> items, std::string_view separator) {
  return join_items(items, separator);
}

std::string counted(long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace headwise
