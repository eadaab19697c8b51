#include "core/files/python_name.h"

#include <algorithm>

namespace headwise {

std::string name_in_python(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return name.size() <= 40 && std::ranges::all_of(name, plain) ? name : "FILE";
}

}  // namespace headwise
