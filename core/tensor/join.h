// Lists and counts as text: "4, 8, 16", "3 heads".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headwise {

// The items joined by the separator. Accepts a list, an array, a vector or a braced list; numbers in decimal,
// as short as round-tripping allows.
std::string join(std::span<const std::string> items, std::string_view separator);
std::string join(std::span<const std::string_view> items, std::string_view separator);
std::string join(std::span<const long> items, std::string_view separator);
std::string join(std::span<const double> items, std::string_view separator);
std::string join(std::span<const int> items, std::string_view separator);

// "1 head", "3 heads": of a noun whose plural has an s more.
std::string counted(long count, std::string_view noun);

// Without the blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace headwise
