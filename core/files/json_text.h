// JSON to and from text. The only place where nlohmann's writer is compiled: otherwise it would be compiled
// in every file that uses it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headwise {

struct JsonStyle {
  int indent = -1;     // spaces per level; -1: all on one line
  bool ascii = false;  // \uXXXX for non-ASCII characters
  bool replaces_bytes =
      false;  // U+FFFD for bytes that are not UTF-8; otherwise they throw nlohmann's type_error
};

std::string json_text(const nlohmann::json& value, const JsonStyle& style = {});
std::string json_text(const nlohmann::ordered_json& value, const JsonStyle& style = {});

// For text that the program wrote itself, or whose damage does no harm; parse_strict_json is for other
// people's files. Throws nlohmann's parse_error or out_of_range.
nlohmann::json json_of(std::string_view text);
nlohmann::ordered_json ordered_json_of(std::string_view text);

}  // namespace headwise
