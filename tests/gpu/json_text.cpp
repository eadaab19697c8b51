#include "tests/gpu/json_text.h"

#include <fmt/format.h>

#include <cmath>

namespace headwise::gpu_bench {

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (byte < 0x20)
      quoted += fmt::format("\\u{:04x}", byte);
    else
      quoted += c;
  }
  return quoted + '"';
}

JsonObject& JsonObject::json(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_string(name) + ": ";
  members_ += value;
  return *this;
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  return json(name, json_string(value));
}

JsonObject& JsonObject::number(std::string_view name, double value) {
  return json(name, std::isfinite(value) ? fmt::format("{:.6g}", value) : "null");
}

JsonObject& JsonObject::count(std::string_view name, Index value) {
  return json(name, fmt::format("{}", value));
}

JsonObject& JsonObject::flag(std::string_view name, bool value) {
  return json(name, value ? "true" : "false");
}

std::string json_array(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() > 1 ? ",\n  " : "\n  ") + item;
  return text + (items.empty() ? "]" : "\n]");
}

}  // namespace headwise::gpu_bench
