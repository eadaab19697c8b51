#include "core/model/layers/numbered_name.h"

#include <algorithm>

namespace headwise {
namespace {

constexpr std::size_t most_digits = 9;  // a longer number is a checksum, not a count

bool is_count(const std::string& part) {
  return !part.empty() && part.size() <= most_digits && (part.size() == 1 || part[0] != '0') &&
         part.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

NumberedName numbered_name(const std::string& name) {
  NumberedName result{{""}, {}};
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (begin > 0) result.between.back() += '.';
    if (is_count(part)) {
      result.numbers.push_back(std::stoll(part));
      result.between.emplace_back();
    } else {
      result.between.back() += part;
    }
    begin = end + 1;
  }
  return result;
}

std::string with_number(const NumberedName& name, std::size_t axis, Index number) {
  std::string text = name.between[0];
  for (std::size_t i = 0; i < name.numbers.size(); ++i)
    text += std::to_string(i == axis ? number : name.numbers[i]) + name.between[i + 1];
  return text;
}

}  // namespace headwise
